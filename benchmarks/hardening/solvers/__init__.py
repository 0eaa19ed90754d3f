"""METIS and the other solvers on problems of every odd shape, each in a process of its own."""

from collections.abc import Iterator

from benchmarks.hardening.rows import Row
from benchmarks.hardening.solvers.parent import KINDS, account
from benchmarks.hardening.solvers.wrappers import is_installed, wrappers

GRAPHS = 5_000


def run(share: float = 1.0, seed: int = 0) -> Iterator[Row]:
    """Yield a row a wrapper; of what is not installed one that says so."""
    count = max(1, round(GRAPHS * share))
    for name in wrappers():
        if is_installed(name):
            yield account(name, count, seed).row()
        else:
            yield Row(f"odd graphs: {name}, not installed", 0, dict.fromkeys(KINDS, 0))
