"""Budgets of searches: what is left of a limit on time or on changes."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from math import inf

from streamplace.errors import Fault, UsageError
from streamplace.sim import work_clock

DEFAULT_SECONDS = 1.0  # the limit where none is stated; docs/results/search.md has what .1 s loses


@dataclass
class Budget:
    """A limit on time in seconds, as `work_clock` counts them, on changes tried, or on both.

    What is charged to a part of a budget is charged to the whole, too.
    """

    seconds: float | None = None
    evaluations: int | None = None
    _parent: "Budget | None" = None
    _spent: int = 0
    _begun: float = field(default_factory=work_clock.now)
    _pace: float = 2e-7  # seconds per change; a guess until the first measurement

    def left(self) -> int:
        """Return the estimated number of changes left to try."""
        return min(
            self.evaluations_left(), int(max(0.0, min(2.0**62, self.seconds_left() / self._pace)))
        )

    def evaluations_left(self) -> int:
        """Return the number of changes left to try, whatever the time; 2^62 without a limit."""
        # No limit, as an integer that kernels can take.
        return 2**62 if self.evaluations is None else max(0, self.evaluations - self._spent)

    def seconds_left(self) -> float:
        """Return the seconds left; inf without a time limit."""
        if self.seconds is None:
            return inf
        return self.seconds - (work_clock.now() - self._begun)

    def charge(self, changes: int, seconds: float) -> None:
        """Record changes and their time: at least one, so that a search at its bound ends, too."""
        self._spent += max(1, changes)
        self._pace = seconds / max(1, changes)
        if self._parent is not None:
            self._parent.charge(changes, seconds)

    def within(self, seconds: float) -> "Budget":
        """Return a part of this budget of at most some seconds; all of it without a time limit."""
        if self.seconds is None:
            return self
        evaluations = None if self.evaluations is None else self.evaluations_left()
        return Budget(min(seconds, self.seconds_left()), evaluations, _parent=self)

    def up_to(self, changes: int) -> "Budget":
        """Return a part of this budget of at most a number of changes."""
        seconds = None if self.seconds is None else self.seconds_left()
        return Budget(seconds, min(changes, self.evaluations_left()), _parent=self)

    def share(self, part: float) -> "Budget":
        """Return a part of this budget: a share of what is left."""
        evaluations = None if self.evaluations is None else int(part * self.evaluations_left())
        seconds = None if self.seconds is None else part * self.seconds_left()
        return Budget(seconds, evaluations, _parent=self)


def clock_of(seconds: float | None, evaluations: int | None) -> AbstractContextManager[None]:
    """Count CPU time where neither limit is stated, so that other work on the machine is no loss.

    A stated number of seconds is wall time.
    """
    is_stated = seconds is not None or evaluations is not None
    return nullcontext() if is_stated else work_clock.cpu_time()


@contextmanager
def budget_of(
    seconds: float | None, evaluations: int | None, otherwise: float = DEFAULT_SECONDS
) -> Iterator[Budget]:
    """Give the budget of stated limits; without any, one of `otherwise` seconds of CPU time."""
    with clock_of(seconds, evaluations):
        is_stated = seconds is not None or evaluations is not None
        yield Budget(seconds if is_stated else otherwise, evaluations)


def check_limits(placer: str, seconds: float | None, evaluations: int | None) -> None:
    """Raise UsageError if a limit of a placer is out of range."""
    if evaluations is not None and evaluations < 1:
        fault = f"evaluations must be at least 1 (got {evaluations})"
        raise UsageError(Fault(fault, place=(placer,)))
    if seconds is not None and not 0 <= seconds < inf:
        fault = f"seconds must be at least 0 (got {seconds:g})"
        raise UsageError(Fault(fault, place=(placer,)))
