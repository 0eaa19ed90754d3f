"""METIS and the other solvers on unusual problems, each solver in separate processes."""

from collections.abc import Iterator, Sequence

from benchmarks.hardening.campaigns.solvers.wrapper_results import KINDS, run_wrapper
from benchmarks.hardening.campaigns.solvers.wrappers import is_installed, wrappers
from benchmarks.hardening.harness.rows import Row

PROBLEMS = 5_000  # that must reach the library of each wrapper


def run(share: float = 1.0, seed: int = 0, only: Sequence[str] | None = None) -> Iterator[Row]:
    """Yield one row per wrapper, or for `only` some, even if their libraries are not installed."""
    count = max(1, round(PROBLEMS * share))
    for name in only or wrappers():
        if is_installed(name):
            yield run_wrapper(name, count, seed).row()
        else:
            yield Row(f"unusual graphs: {name}, not installed", 0, dict.fromkeys(KINDS, 0))
