"""The results as a page of Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from streamplace.util.effect import mean_intervals

OURS = "streamplace"
WAYS = (OURS, "default", "spread", "random")
TABLE = "RESULTS.md"


def page(rows: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> str:
    """Return the page of results, one row of which is a trial."""
    found = {(row["job"], row["repeat"], row["way"]): float(row["work"]) for row in rows}
    jobs = sorted({row["job"] for row in rows})
    repeats = sorted({row["repeat"] for row in rows})
    rates = {
        way: np.array([[found.get((job, r, way), np.nan) for r in repeats] for job in jobs])
        for way in WAYS
    }
    predicted = {row["job"]: float(row["predicted"]) for row in rows if row["way"] == OURS}
    commits = sorted({str(row["commit"]) for row in rows})
    lines = [
        "# Placements of Ray actors beside Ray's own",
        "",
        "    make ray-loop",
        "",
        f"{len(jobs)} pipelines of seed {settings['seed']}, {len(repeats)} runs of each in each",
        f"way, on three nodes with {settings['share']:g} of a core. Commits {', '.join(commits)}.",
        "",
        f"| pipeline | {' | '.join(WAYS)} | predicted | measured / predicted |",
        f"| --- |{' ---: |' * (len(WAYS) + 2)}",
    ]
    for i, job in enumerate(jobs):
        medians = {way: float(np.nanmedian(rates[way][i])) for way in WAYS}
        cells = [f"{medians[way]:.1f}" for way in WAYS]
        cells += [f"{predicted[job]:.1f}", f"{medians[OURS] / predicted[job]:.3f}"]
        lines.append(f"| {job} | {' | '.join(cells)} |")
    lines += ["", "Source tuples/s by the work that actors did, medians of the runs.", ""]
    for way in WAYS[1:]:
        gains = np.nanmean(rates[OURS] / rates[way] - 1.0, axis=1)
        low, high = mean_intervals(gains.reshape(1, -1))[0]
        lines.append(
            f"Mean gain over {way}: {gains.mean():+.1%}, 95% interval over the pipelines "
            f"{low:+.1%} to {high:+.1%}."
        )
    return "\n".join([*lines, ""])
