"""The results as a page of Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from streamplace.util.arrays import Bools, Floats
from streamplace.util.effect import mean_intervals

OURS = "streamplace"
TABLE = "contention.md"
COLUMNS = ("job", "default", "tasks", OURS, "over default", "over tasks", "better")


def page(
    rows: Sequence[Mapping[str, Any]], settings: Mapping[str, Any], costs: Sequence[str]
) -> str:
    """Return the page of results, one row of which is a trial, and a table of costs."""
    jobs = sorted({str(row["job"]) for row in rows})
    rates = {way: _rates(rows, jobs, way, "work") for way in ("default", "tasks", OURS)}
    over, better = _gains(rates)
    at_sink = {way: _rates(rows, jobs, way, "sink") for way in rates}
    lines = [
        "# Contention for CPU time on a real Flink",
        "",
        f"{len(jobs)} jobs of seed {settings['seed']}, {rates[OURS].shape[1]} runs of each in each",
        f"way, on TaskManagers with {settings['share']:g} of a core. Commit {settings['commit']}.",
        "",
        "    make flink-contention",
        "",
        _row(COLUMNS),
        _row(["---", *["---:"] * (len(COLUMNS) - 1)]),
    ]
    for i, job in enumerate(jobs):
        medians = [f"{np.median(rates[way][i]):,.0f}" for way in rates]
        gains = [_spread(gain[i]) for gain in over.values()]
        lines.append(_row([job, *medians, *gains, "yes" if better[i] else "NO"]))
    lines += [
        "",
        "Source tuples/s by the work that operators did, medians of the runs; gains of the pairs",
        "of runs of the same turn, median (smallest to largest). All TaskManagers have the same",
        "number of slots, which does not limit the groups with labels that streamplace asks for.",
        f"Rates at the source and at the sink differ by at most {_unsteady(rows):.1%} (tuples in",
        "buffers), so that neither is as steady as the work.",
        "",
        f"streamplace is better than both on {int(better.sum())} of {len(jobs)} jobs; by the",
        f"counts of the sink alone, on {int(_gains(at_sink)[1].sum())}.",
        *(_gain(way, gain) for way, gain in over.items()),
        "",
        "## Measured costs",
        "",
        "Measured over true costs of operators, relative to those of the whole job: smallest and",
        "largest of each job. streamplace places by CPU times of thread dumps; busy times include",
        "waits for a core. Both were measured at the same time.",
        "",
        *costs,
        "",
    ]
    return "\n".join(lines)


def _gains(rates: Mapping[str, Floats]) -> tuple[dict[str, Floats], Bools]:
    """Return our gains over other ways, (J, R) each, and where the medians of all are gains."""
    over = {way: rates[OURS] / rate - 1.0 for way, rate in rates.items() if way != OURS}
    return over, np.all([np.median(gain, axis=1) > 0.0 for gain in over.values()], axis=0)


def _rates(rows: Sequence[Mapping[str, Any]], jobs: Sequence[str], way: str, by: str) -> Floats:
    """Return the throughput of each job, (J, R), in the R repeats in which all of them ran."""
    found = {(row["job"], row["repeat"], row["way"]): float(row[by]) for row in rows}
    ways = {str(row["way"]) for row in rows}
    repeats = sorted({int(row["repeat"]) for row in rows})
    whole = [r for r in repeats if all((job, r, w) in found for job in jobs for w in ways)]
    return np.array([[found[job, r, way] for r in whole] for job in jobs])


def _spread(gains: Floats) -> str:
    return f"{np.median(gains):+.1%} ({gains.min():+.1%} to {gains.max():+.1%})"


def _gain(way: str, gains: Floats) -> str:
    """Return the mean gain; runs of one job are no independent sample, so jobs are resampled."""
    by_job = gains.mean(axis=1)
    low, high = mean_intervals(by_job.reshape(1, -1))[0]
    return (
        f"Mean gain over {way}: {gains.mean():+.1%}, 95% interval over the jobs {low:+.1%} to "
        f"{high:+.1%}; means of the jobs {by_job.min():+.1%} to {by_job.max():+.1%}."
    )


def _unsteady(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the largest difference between the rates at the source and at the sink, a share."""
    return max(abs(float(row["source"]) / float(row["sink"]) - 1.0) for row in rows)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
