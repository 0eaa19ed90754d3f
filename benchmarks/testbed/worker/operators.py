"""Operators of a device: the tuples that they take and emit."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from benchmarks.testbed.worker.wires import Queue

ROUNDING = 1e-9  # makes three thirds one tuple


@dataclass
class Output:
    """A stream out of an operator.

    Parameters
    ----------
    selectivity
        Tuples on the stream per tuple processed; after n tuples the stream has carried
        floor(n * selectivity + phase), so that fractions never drift.
    phase
        0 to 1; lets the streams of an operator take turns.
    """

    queue: Queue
    selectivity: float
    phase: float

    def due(self, processed: int) -> int:
        """Return the number of tuples that processing the next tuple puts on it."""
        return self._carried(processed + 1) - self._carried(processed)

    def _carried(self, processed: int) -> int:
        return floor(processed * self.selectivity + self.phase + ROUNDING)


class Operator:
    """An operator, which takes tuples in order of arrival, works and emits tuples.

    Parameters
    ----------
    cost_ns
        CPU time per tuple.
    rate
        Tuples/s that a source offers; 0 for other operators.
    backlog
        Tuples that may wait at a source; further tuples are lost.

    Attributes
    ----------
    processed
        Tuples processed so far.
    lost
        Tuples that a source has lost so far.
    debt_ns
        CPU time that it has used beyond its cost so far, because work comes in small lumps.
    share_ns
        CPU time that it has had. When it has work again after a pause, this is raised to the value
        of the operator that was chosen last.
    had_work
        Whether it had work at the last check.
    """

    def __init__(
        self,
        cost_ns: float,
        inputs: Sequence[Queue],
        outputs: Sequence[Output],
        rate: float = 0.0,
        backlog: float = 0.0,
    ) -> None:
        self.cost_ns = cost_ns
        self.inbox: deque[Queue] = deque()
        for queue in inputs:
            queue.inbox = self.inbox
        self.outputs = outputs
        self.rate = rate
        self.backlog = backlog
        self.processed = 0
        self.lost = 0.0
        self.debt_ns = 0.0
        self.share_ns = 0.0
        self.had_work = False

    def next_due_s(self) -> float:
        """Return the time of a source's next tuple, in seconds from the start."""
        return (self.processed + self.lost + 1) / self.rate

    def ready(self, elapsed_s: float) -> bool:
        """Return whether it has a tuple, and its outputs have room for the result."""
        if self.rate:
            waiting = elapsed_s * self.rate - self.processed - self.lost
            if waiting < 1:
                return False
            self.lost += max(0.0, waiting - self.backlog)
        elif not self.inbox:
            return False
        return not any(out.queue.full and out.due(self.processed) for out in self.outputs)

    def take(self) -> Queue | None:
        """Take the tuple that arrived first; return its queue, or None if there is no tuple."""
        if not self.inbox:
            return None
        queue = self.inbox.popleft()
        queue.take()
        return queue

    def emit(self) -> list[Queue]:
        """Put the result of a tuple on the streams; return the streams that got tuples."""
        got = []
        for out in self.outputs:
            if tuples := out.due(self.processed):
                out.queue.put(tuples)
                got.append(out.queue)
        self.processed += 1
        return got
