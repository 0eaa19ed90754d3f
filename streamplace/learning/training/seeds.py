"""Runs of one config with several seeds: their folders, and what they reach together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from streamplace.files.training_logs import Log
from streamplace.util.checks import finite
from streamplace.util.effect import mean_intervals

SEEDS = "seeds.json"
MEASURES = ("validation", "reward", "loss")
"""The quantity of the logs that is compared: the first one that all of them have."""


def run_folder(folder: str | Path, seed: int) -> Path:
    """Return the folder of the run with a seed."""
    return Path(folder) / f"seed-{seed}"


def seeds_in(folder: str | Path) -> list[int]:
    """Return the seeds of the runs in a folder, ascending."""
    names = [path.name.removeprefix("seed-") for path in Path(folder).glob("seed-*")]
    return sorted(int(name) for name in names if name.isdecimal())


@dataclass(frozen=True)
class SeedsResult:
    """What runs with several seeds reach.

    Parameters
    ----------
    measure
        ``validation``, the last reward of greedy placements on held-out graphs; without held-out
        graphs, ``reward``, its mean over the steps of the last epoch, or ``loss`` likewise.
    seeds, values
        The seed of each run and what it reached.
    mean, low, high
        Their mean, and its 95% interval from a bootstrap over the seeds; None for one or two
        seeds.
    best
        The seed of the largest value, of the smallest loss.
    """

    measure: str
    seeds: tuple[int, ...]
    values: tuple[float, ...]
    mean: float
    low: float | None
    high: float | None
    best: int

    @classmethod
    def of(cls, logs: Mapping[int, Log]) -> "SeedsResult":
        """Return the result of the finished runs with these logs, by seed."""
        measure = next(
            name for name in MEASURES if all(any(name in s for s in log) for log in logs.values())
        )
        values = np.array([_last_value(log, measure) for log in logs.values()])
        low, high = mean_intervals(values[None])[0]
        seeds = tuple(logs)
        best = int(values.argmin() if measure == "loss" else values.argmax())
        return cls(
            measure,
            seeds,
            tuple(values.tolist()),
            float(values.mean()),
            finite(low),
            finite(high),
            seeds[best],
        )

    def __str__(self) -> str:
        interval = "" if self.low is None else f" (95% interval {self.low:.4f} to {self.high:.4f})"
        what = f"{self.measure} over {len(self.seeds)} seeds: mean {self.mean:.4f}{interval}"
        return f"{what}, best {self.values[self.seeds.index(self.best)]:.4f} of seed {self.best}"

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``seeds.json``."""
        return {**vars(self), "seeds": list(self.seeds), "values": list(self.values)}


def _last_value(log: Sequence[Mapping[str, float]], measure: str) -> float:
    """Return the last value of a quantity, or the mean over its last epoch."""
    having = [step for step in log if measure in step]
    if measure == "validation":
        return having[-1][measure]
    last = [step[measure] for step in having if step["epoch"] == having[-1]["epoch"]]
    return float(np.mean(last))
