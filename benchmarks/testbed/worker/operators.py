"""Operators: what they take, and what they emit for it."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from benchmarks.testbed.worker.wires import Queue

ROUNDING = 1e-9  # three thirds are a tuple


@dataclass
class Output:
    """A stream out of an operator.

    Parameters
    ----------
    selectivity
        Tuples on it per tuple processed; after n tuples it has carried floor(n * selectivity +
        phase), so fractions never drift.
    phase
        0 to 1: streams of one operator take turns.
    """

    queue: Queue
    selectivity: float
    phase: float

    def due(self, processed: int) -> int:
        """Return how many tuples the next tuple processed puts on it."""
        return self._carried(processed + 1) - self._carried(processed)

    def _carried(self, processed: int) -> int:
        return floor(processed * self.selectivity + self.phase + ROUNDING)


class Operator:
    """Takes tuples in the order in which they came, works, emits.

    Parameters
    ----------
    cost_ns
        CPU time of a tuple.
    rate
        Tuples/s offered, of a source.
    backlog
        Tuples that a source lets wait; what is more is lost.

    Attributes
    ----------
    processed
        Tuples so far.
    debt_ns
        CPU time that it has used beyond its cost so far; work comes in small lumps.
    share_ns
        CPU time that it had, counted from that of the others whenever it has work again.
    waits
        Whether it had work when it was last looked at.
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
        self.waits = False

    def next_due_s(self) -> float:
        """Return when a source has its next tuple, in seconds from the start."""
        return (self.processed + self.lost + 1) / self.rate

    def ready(self, elapsed_s: float) -> bool:
        """Return whether it has a tuple, and room for what that makes."""
        if self.rate:
            waiting = elapsed_s * self.rate - self.processed - self.lost
            if waiting < 1:
                return False
            self.lost += max(0.0, waiting - self.backlog)
        elif not self.inbox:
            return False
        return not any(out.queue.full and out.due(self.processed) for out in self.outputs)

    def take(self) -> Queue | None:
        """Take the tuple that came first; return the queue that it came by."""
        if not self.inbox:
            return None
        queue = self.inbox.popleft()
        queue.take()
        return queue

    def emit(self) -> list[Queue]:
        """Put what a tuple makes on the streams; return those that got some."""
        got = []
        for out in self.outputs:
            if tuples := out.due(self.processed):
                out.queue.put(tuples)
                got.append(out.queue)
        self.processed += 1
        return got
