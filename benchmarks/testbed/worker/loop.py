"""The main loop of a device: operators share a core tuple by tuple, as fairly as threads."""

import select
import time
from collections.abc import Sequence

from benchmarks.testbed.worker.burning import Burner, clock
from benchmarks.testbed.worker.operators import Operator
from benchmarks.testbed.worker.wires import Queue, Receiver, Sender

MAX_WAIT_S = 0.05  # for the network, without other work
SAMPLE_S = 0.1
SLICE_NS = 500_000
"""CPU time between two checks of the network. The network threads of stream engines keep links busy
during a long tuple; without these checks, the links would be idle."""
Sample = tuple[float, list[int], int, int, int, int]
"""Seconds since the start, tuples processed by each operator, CPU ns used, CPU ns of operators'
work, rounds of the hash, CPU ns of the rounds."""


class Loop:
    """Runs operators in one thread: the one with work that has used the least CPU time is next.

    That is how Linux shares a core between threads (weighted fair queueing). If operators took
    turns tuple by tuple, heavy ones would delay a light one that needs more turns, and throughput
    would swing over seconds.

    The cost of an iteration apart from the network (choosing an operator, its queues) counts as
    part of the operator's work. The cost of sending and receiving is added to it, like LogP's o.
    """

    def __init__(self, operators: Sequence[Operator], wires: Sequence[Sender | Receiver]) -> None:
        self.operators = operators
        self.sources = [operator for operator in operators if operator.rate]
        self.samples: list[Sample] = []
        self._burner = Burner()
        self._worked_ns = 0
        self._share_ns = 0.0
        self._poll = select.epoll()
        self._wires = {wire.link.fileno(): wire for wire in wires}
        self._stuck: set[int] = set()
        for wire in self._wires:
            self._poll.register(wire, select.EPOLLIN)
        self._poll.register(0, select.EPOLLIN)

    def run(self, start_s: float, seconds: float) -> None:
        """Run operators for `seconds`, from a time of the monotonic clock on."""
        time.sleep(max(0.0, start_s - time.monotonic()))
        sample_s, begin = 0.0, clock()
        while (elapsed := time.monotonic() - start_s) < seconds:
            if elapsed >= sample_s:
                self._sample(elapsed)
                sample_s += SAMPLE_S
            operator = self._pick(elapsed)
            if operator is None:
                self._serve(self._idle_s(elapsed))
                begin = clock()
                continue
            if self._serve(0.0):
                begin = clock()
            begin = self._process(operator, begin)
        self._sample(time.monotonic() - start_s)
        self._poll.close()

    def _process(self, operator: Operator, begin: int) -> int:
        """Process a tuple; return the CPU time from which the next tuple counts."""
        taken = operator.take()
        target = int(begin + operator.cost_ns - operator.debt_ns)
        elsewhere_ns = self._work(target)
        got: list[Queue] = operator.emit()
        now = clock()
        operator.debt_ns = now - elsewhere_ns - target
        self._worked_ns += now - elsewhere_ns - begin
        if isinstance(taken, Receiver):
            got.append(taken)
        networked = False
        for queue in got:
            if isinstance(queue, Sender | Receiver):
                self._flush(queue)
                networked = True
        return clock() if networked else now

    def _work(self, target_ns: int) -> int:
        """Work until the CPU clock reaches a time; return the CPU ns of the network meanwhile.

        The target is postponed by the time that the network takes.
        """
        begin, elsewhere_ns = clock(), 0
        while begin + SLICE_NS < target_ns + elsewhere_ns:
            begin = self._burner.until(begin + SLICE_NS)
            if self._serve(0.0):
                now = clock()
                elsewhere_ns += now - begin
                begin = now
        self._burner.until(target_ns + elsewhere_ns)
        return elsewhere_ns

    def _pick(self, elapsed: float) -> Operator | None:
        """Return the next operator. Operators without work do not accumulate unused CPU time."""
        chosen = None
        for operator in self.operators:
            if not operator.ready(elapsed):
                operator.had_work = False
                continue
            if not operator.had_work:
                operator.had_work = True
                operator.share_ns = max(operator.share_ns, self._share_ns)
            if chosen is None or operator.share_ns < chosen.share_ns:
                chosen = operator
        if chosen is not None:
            self._share_ns = chosen.share_ns
            chosen.share_ns += chosen.cost_ns
        return chosen

    def _idle_s(self, elapsed: float) -> float:
        """Return the seconds until the next tuple of a source is due."""
        due = (source.next_due_s() - elapsed for source in self.sources)
        return min((d for d in due if d > 0), default=MAX_WAIT_S)

    def _serve(self, timeout: float) -> bool:
        """Handle the events of the network; return whether there were any."""
        events = self._poll.poll(min(timeout, MAX_WAIT_S))
        for number, event in events:
            if number == 0:
                raise SystemExit(0)  # the run that started this device has ended
            wire = self._wires[number]
            if event & select.EPOLLOUT:
                self._flush(wire)
            if event & ~select.EPOLLOUT:
                wire.readable()
        return bool(events)

    def _flush(self, wire: Sender | Receiver) -> None:
        """Send what the socket accepts; poll for room if something is left."""
        number = wire.link.fileno()
        left = wire.flush()
        if left != (number in self._stuck):
            (self._stuck.add if left else self._stuck.discard)(number)
            self._poll.modify(number, select.EPOLLIN | (select.EPOLLOUT if left else 0))

    def _sample(self, elapsed: float) -> None:
        burnt = self._burner
        processed = [operator.processed for operator in self.operators]
        times = (clock(), self._worked_ns, burnt.rounds, burnt.spent_ns)
        self.samples.append((elapsed, processed, *times))
