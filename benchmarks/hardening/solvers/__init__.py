"""METIS and the other solvers on problems of every odd shape, each in a process of its own."""

from collections.abc import Iterator

from benchmarks.hardening.rows import Row
from benchmarks.hardening.solvers.parent import account
from benchmarks.hardening.solvers.wrappers import wrappers

GRAPHS = 5_000


def run(share: float = 1.0, seed: int = 0) -> Iterator[Row]:
    """Yield a row a wrapper."""
    count = max(1, round(GRAPHS * share))
    for name in wrappers():
        yield account(name, count, seed).row(f"odd graphs: {name}")
