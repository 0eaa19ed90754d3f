"""Walks: the steps of policies that refine placements, sample by sample."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from streamplace.learning.policy.encoded import Batch
from streamplace.util.arrays import Floats, Ints

L = TypeVar("L")


class Walk(Protocol):
    """The T steps of a sample of a policy that refines placements of V operators."""

    @property
    def devices(self) -> Ints:
        """(T + 1, V) the placement before each step, and at the end.

        (V,) only the one at the end, of a policy whose steps never make a placement worse.
        """
        ...

    @property
    def losses(self) -> Floats:
        """(T + 1,) the losses of these placements, also of those that are not kept."""
        ...


@dataclass(eq=False)
class Recorded:
    """What walks share that keep all placements.

    Attributes
    ----------
    devices
        (T + 1, V) the placement before each step, and at the end.
    losses
        (T + 1,) their losses.
    """

    devices: Ints
    losses: Floats


class Relocating(Walk, Protocol):
    """A walk in which every step places one operator."""

    @property
    def operator(self) -> Ints:
        """(T,) the operator that each step places."""
        ...

    @property
    def chosen(self) -> Ints:
        """(T,) the device on which it does."""
        ...


class Walks(list[L]):
    """What takes the walks of S samples of P problems, grouped by problem.

    Parameters
    ----------
    start
        (P, S, V) the placements to start from.
    steps
        (P,) the number of steps for each problem.
    begin
        Begins a walk of an encoded problem from a placement, (V,), with a number of steps; the last
        argument is the number of the problem.

    Attributes
    ----------
    samples
        S, the number of walks of each problem.
    """

    def __init__(
        self,
        batch: Batch,
        start: Ints,
        steps: Sequence[int],
        begin: Callable[[Any, Ints, int, int], L],
    ) -> None:
        super().__init__(
            begin(one, row[: one.size], steps[p], p)
            for p, one in enumerate(batch.encoded)
            for row in start[p]
        )
        self.samples, self._steps = start.shape[1], steps

    def going(self) -> Iterator[tuple[int, list[int]]]:
        """Yield each step with the numbers of the walks that take it."""
        for t in range(max(self._steps)):
            yield t, [n for n in range(len(self)) if t < self._steps[n // self.samples]]
