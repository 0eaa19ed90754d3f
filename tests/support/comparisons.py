"""Comparisons with simple numbers, and names that are hard to draw."""

import numpy as np

from streamplace.problem.makespan import Makespan
from streamplace.workflows.cases import CaseList
from streamplace.workflows.comparison import Comparison
from streamplace.workflows.makespan_comparison import MakespanComparison

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
        ("g0", "g1", "g2", "g3"),
        "bottleneck",
        ("metis", "my_placer"),
        (1e4, 2e4),
        np.array(achieved),
        np.array(used, dtype=np.float64),
        np.ones((2, 2, 4)),
        np.full((2, 2, 4), 2.0),
        np.full((2, 2, 4), np.nan),
    )


def makespans_by_hand(other: str = "my_placer") -> MakespanComparison:
    """Return HEFT and another placer on four graphs: better, worse, a tie, and without work."""
    return MakespanComparison(
        "made",
        CaseList(("g0", "g1", "g2", "g3")),
        Makespan(),
        ("heft", other),
        np.array([[2.0, 4.0, 8.0, 0.0], [1.0, 6.0, 8.004, 0.0]]),
        np.array([[1.5, 4.5, 6.0, 0.0], [np.nan] * 4]),
        np.full((2, 4), np.nan),
        np.array([[np.nan] * 4, [10.0, 20.0, 30.0, 40.0]]),
        np.full((2, 4), 0.5),
        np.full((2, 4), 0.25),
        np.array([1.0, 3.0, 4.0, 0.0]),
        np.array([1.0, 2.0, 4.0, 0.0]),
    )


def random_makespans(
    names: tuple[str, ...], graphs: int = 20, spread: float = 1.0
) -> MakespanComparison:
    """Return a comparison of these placers with random numbers."""
    rng = np.random.default_rng(3)
    shape = (len(names), graphs)
    return MakespanComparison(
        "made",
        CaseList(tuple(f"g{i}" for i in range(graphs))),
        Makespan(),
        names,
        1.0 + spread * rng.random(shape),
        np.full(shape, np.nan),
        np.full(shape, np.nan),
        np.full(shape, np.nan),
        np.ones(shape),
        np.ones(shape),
        np.full(graphs, 0.9),
        np.full(graphs, 0.8),
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
        tuple(f"g{i}" for i in range(graphs)),
        "path-average",
        names,
        rates,
        rng.random(shape),
        rng.integers(1, max_devices + 1, shape).astype(np.float64),
        np.ones(shape),
        np.ones(shape),
        np.full(shape, np.nan),
    )
