"""Comparisons with simple numbers, and names that are hard to draw."""

import numpy as np

from streamplace.problem.makespan import Makespan
from streamplace.problem.objective import Throughput
from streamplace.workflows.cases import CaseList
from streamplace.workflows.comparison import Comparison, Figures
from streamplace.workflows.differences import RelativeThroughput
from streamplace.workflows.ratios import RatioMeasure

HARD_NAMES = (
    "metis",
    "metis-recursive-oracle:weights=utilisation",
    "metis-recursive:weights=utilisation:parts=3",
    "_hidden",
    r"$\frac{$",
    "a_b^c$",
    "naïve → 名前",
    "policy:file=/runs/of/last/week/policy.safetensors:samples=16",
    "policy:file=/runs/of/this/week/policy.safetensors:samples=16",
    "x" * 1000,
    "two\nlines\x1b[31m",
    "&%#{}~|<b>",
)


def comparison_by_hand() -> Comparison:
    """Return two placers at two source rates over four graphs."""
    achieved = [
        [[0.2, 0.4, 0.6, 1.0], [0.4, 0.4, 0.5, 1.0]],
        [[0.1, 0.2, 0.3, 0.5], [0.2, 0.2, 0.3, 0.5]],
    ]
    used = [[[1, 2, 2, 5], [3, 3, 3, 3]], [[5, 5, 5, 5], [4, 4, 5, 5]]]
    return Comparison(
        "made",
        CaseList(("g0", "g1", "g2", "g3")),
        RelativeThroughput(Throughput()),
        ("metis", "my_placer"),
        (1e4, 2e4),
        Figures.of(
            np.array(achieved),
            devices_used=np.array(used, dtype=np.float64),
            seconds=np.ones((2, 2, 4)),
            cpu_seconds=np.full((2, 2, 4), 2.0),
        ),
    )


def makespans_by_hand(other: str = "my_placer") -> Comparison:
    """Return HEFT and another placer on four graphs: better, worse, a tie, and without work."""
    return Comparison(
        "made",
        CaseList(("g0", "g1", "g2", "g3")),
        RatioMeasure(Makespan()),
        ("heft", other),
        (None,),
        Figures.of(
            np.array([[[2.0, 4.0, 8.0, 0.0], [1.0, 6.0, 8.004, 0.0]]]),
            own_schedules=np.array([[[1.5, 4.5, 6.0, 0.0], [np.nan] * 4]]),
            evaluations=np.array([[[np.nan] * 4, [10.0, 20.0, 30.0, 40.0]]]),
            seconds=np.full((1, 2, 4), 0.5),
            cpu_seconds=np.full((1, 2, 4), 0.25),
            bounds=np.array([[1.0, 3.0, 4.0, 0.0]]),
            longest_paths=np.array([[1.0, 2.0, 4.0, 0.0]]),
        ),
    )


def random_makespans(names: tuple[str, ...], graphs: int = 20, spread: float = 1.0) -> Comparison:
    """Return a comparison of these placers with random numbers."""
    rng = np.random.default_rng(3)
    shape = (1, len(names), graphs)
    return Comparison(
        "made",
        CaseList(tuple(f"g{i}" for i in range(graphs))),
        RatioMeasure(Makespan()),
        names,
        (None,),
        Figures.of(
            1.0 + spread * rng.random(shape),
            seconds=np.ones(shape),
            cpu_seconds=np.ones(shape),
            bounds=np.full((1, graphs), 0.9),
            longest_paths=np.full((1, graphs), 0.8),
        ),
    )


def random_comparison(
    names: tuple[str, ...],
    rates: tuple[float | None, ...] = (1e4,),
    graphs: int = 20,
    max_devices: int = 5,
) -> Comparison:
    """Return a comparison of these placers with random numbers."""
    rng = np.random.default_rng(3)
    shape = (len(rates), len(names), graphs)
    return Comparison(
        "made",
        CaseList(tuple(f"g{i}" for i in range(graphs))),
        RelativeThroughput(Throughput(model="path-average")),
        names,
        rates,
        Figures.of(
            rng.random(shape),
            devices_used=rng.integers(1, max_devices + 1, shape).astype(np.float64),
            seconds=np.ones(shape),
            cpu_seconds=np.ones(shape),
        ),
    )
