"""Summary of the campaign of passes: rank correlations within graphs, and errors."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from benchmarks.result_lines import read
from benchmarks.testbed.passes.campaign import RESULTS
from streamplace.files import write_json
from streamplace.util.arrays import Floats

SUMMARY = "passes.json"
MEDIAN_RANK, LEAST_RANK, LARGEST_ERROR = 0.95, 0.8, 0.08
Result = Mapping[str, Any]


@dataclass(frozen=True)
class Figures:
    """Figures of one run.

    Parameters
    ----------
    graphs, placements
        Numbers of graphs, and of placements of all of them.
    median_rank, least_rank
        Median and least, over graphs, of Spearman's rank correlation of the simulated and the
        measured makespans of a graph's placements.
    error, bias, largest_error
        Mean of the absolute, mean of the signed, and largest absolute error: measured / simulated
        - 1, where a measured makespan is the median of its passes.
    spread
        Median over placements of (longest - shortest pass) / median pass.
    """

    graphs: int
    placements: int
    median_rank: float
    least_rank: float
    error: float
    bias: float
    largest_error: float
    spread: float

    @property
    def good(self) -> bool:
        """Whether the ranks and the mean error are as good as they have to be."""
        ranked = self.median_rank >= MEDIAN_RANK and self.least_rank >= LEAST_RANK
        return ranked and self.error <= LARGEST_ERROR


def run(folder: Path) -> int:
    """Print the figures as Markdown and write them; return 0 if all runs are good."""
    results = read(folder / RESULTS)
    if not results:
        print(f"{folder / RESULTS}: no results; run the campaign first")
        return 1
    numbers = sorted({one["run"] for one in results})
    runs = {n: figures([one for one in results if one["run"] == n]) for n in numbers}
    for line in table(runs):
        print(line)
    stored = [{"run": n, **asdict(each), "good": each.good} for n, each in runs.items()]
    write_json(folder / SUMMARY, {"runs": stored, "results": results})
    print(f"\n{folder / SUMMARY}")
    return 0 if all(each.good for each in runs.values()) else 1


def figures(results: Sequence[Result]) -> Figures:
    """Return the figures of a run's results, one per graph."""
    pairs = [_columns(one) for one in results]
    ranks = [rank(simulated, np.median(passes, axis=1)) for simulated, passes in pairs]
    errors = np.concatenate([np.median(passes, axis=1) / s - 1 for s, passes in pairs])
    spreads = [np.ptp(passes, axis=1) / np.median(passes, axis=1) for _, passes in pairs]
    return Figures(
        len(results),
        len(errors),
        median(ranks),
        min(ranks),
        float(np.abs(errors).mean()),
        float(errors.mean()),
        float(np.abs(errors).max()),
        float(np.median(np.concatenate(spreads))),
    )


def rank(simulated: Floats, measured: Floats) -> float:
    """Return Spearman's rank correlation; simulated makespans that agree to a µs are ties."""
    return float(spearmanr(np.round(simulated, 6), measured).statistic)


def _columns(result: Result) -> tuple[Floats, Floats]:
    """Return the simulated makespans, (K,), and those of all passes, (K, repeats)."""
    rows = result["placements"].values()
    return (
        np.array([one["simulated_s"] for one in rows]),
        np.array([one["measured_s"] for one in rows]),
    )


def table(runs: Mapping[int, Figures]) -> list[str]:
    """Return the lines of a table with a column per run."""
    each = list(runs.values())
    rows = {
        "graphs, placements": [f"{one.graphs}, {one.placements}" for one in each],
        f"Spearman within a graph, median (at least {MEDIAN_RANK:g})": [
            f"{one.median_rank:.3f}" for one in each
        ],
        f"the same, least (at least {LEAST_RANK:g})": [f"{one.least_rank:.3f}" for one in each],
        f"mean absolute error (at most {LARGEST_ERROR:.0%})": [f"{one.error:.2%}" for one in each],
        "mean error (measured / simulated - 1)": [f"{one.bias:+.2%}" for one in each],
        "largest absolute error": [f"{one.largest_error:.1%}" for one in each],
        "spread of the passes of a placement, median": [f"{one.spread:.2%}" for one in each],
        "all as good as required": ["yes" if one.good else "NO" for one in each],
    }
    head = " | ".join(f"run {number}" for number in runs)
    lines = [f"| figure | {head} |", "|---" * (len(runs) + 1) + "|"]
    return lines + [f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()]
