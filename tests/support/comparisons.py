"""Comparisons with simple numbers, and names that are hard to draw."""

import numpy as np

from streamplace.workflows.comparison import Comparison

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
    )
