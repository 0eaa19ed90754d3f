"""Messages in the CP-SAT model of a pass: no operator starts before its inputs have arrived.

Streams of one producer may share messages. Queues for channels and CPU time of messages are left
out. Without them, arrivals are exact, except with the multicast `all`, which counts as `device` and
may be later: with its constraints, OR-tools 9.15 reports wrong optima on some problems.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from sim.flow import Floats
from sim.schedule.task_graph import NIC, NONE, TaskGraph


class Messages:
    """The messages of a pass in a CP-SAT model.

    Parameters
    ----------
    model
        The model, a ``CpModel``.
    on
        For each operator, whether it is on each device.
    start, end
        Variables of each operator.
    rounded
        Turns seconds into the units of the model.
    """

    def __init__(
        self,
        model: Any,
        tasks: TaskGraph,
        on: Sequence[list[Any]],
        start: list[Any],
        end: list[Any],
        rounded: Callable[[float], int],
    ) -> None:
        self._model, self._tasks, self._on = model, tasks, on
        self._start, self._end, self._rounded = start, end, rounded
        self._together: dict[tuple[int, int], Any] = {}
        for e in range(len(tasks.source)):
            self._send(e)
        if tasks.multicast != NONE:
            for v in np.unique(tasks.source).tolist():
                streams = range(tasks.first_out[v], tasks.end_out[v])
                sent = [e for e in streams if not tasks.silent[e]]
                for e in sent:
                    self._wait_for_largest(v, e, sent)

    @staticmethod
    def terms(tasks: TaskGraph) -> int:
        """Return an estimate of the number of terms."""
        count = len(tasks.source)
        if tasks.multicast != NONE:
            count += int((np.bincount(tasks.source).astype(np.int64) ** 2).sum())
        return count * tasks.devices**2

    def _send(self, e: int) -> None:
        """Let the target of a stream wait for a message of the stream's own size."""
        tasks, model = self._tasks, self._model
        v, w = int(tasks.source[e]), int(tasks.target[e])
        start, end = self._start[w], self._end[v]
        model.add(start >= end)
        if tasks.silent[e]:
            return
        seconds = self._message_seconds(e)
        if self._on[v] is self._on[w] or not seconds.any():
            return
        if tasks.row == 0 and tasks.network != NIC:
            apart = self._same(v, w).negated()
            delay = self._rounded(seconds[0, -1])
            model.add(start >= end + delay).only_enforce_if(apart)
            return
        for b, y in enumerate(self._on[w]):
            model.add(start >= end + self._from(v, seconds[:, b])).only_enforce_if(y)

    def _wait_for_largest(self, v: int, e: int, streams: list[int]) -> None:
        """Let the target of a stream wait for larger streams to its device."""
        bits, target = self._tasks.bits, self._tasks.target
        row = self._on[target[e]]
        for other in streams:
            if bits[other] > bits[e]:
                seconds = self._message_seconds(other)
                for b, y in enumerate(self._on[target[other]]):
                    arrival = self._end[v] + self._from(v, seconds[:, b])
                    self._model.add(self._start[target[e]] >= arrival).only_enforce_if(y, row[b])

    def _same(self, v: int, w: int) -> Any:
        """Return whether two operators are on one device."""
        if (v, w) not in self._together:
            model = self._model
            same = self._together[v, w] = model.new_bool_var("")
            for x, y in zip(self._on[v], self._on[w], strict=True):
                model.add_bool_or([same.negated(), x.negated(), y])
                model.add_bool_or([same, x.negated(), y.negated()])
        return self._together[v, w]

    def _from(self, v: int, seconds: Iterable[float]) -> Any:
        """Return the value for the device of a producer."""
        values = zip(map(self._rounded, seconds), self._on[v], strict=True)
        return chosen(list(values))

    def _message_seconds(self, e: int) -> Floats:
        """Return the time of the message of a stream alone between devices, (D, D)."""
        tasks = self._tasks
        seconds = self._between(tasks.bits[e] / tasks.rate)
        if tasks.network == NIC:
            seconds = np.maximum(seconds, tasks.bits[e] / tasks.rate_in)
        seconds += self._between(tasks.latency_s)
        np.fill_diagonal(seconds, 0.0)
        return seconds

    def _between(self, values: Floats) -> Floats:
        """Return a value of links between all devices, (D, D); 0 within a device."""
        count = self._tasks.devices
        table: Floats = np.broadcast_to(
            values.reshape(-1, self._tasks.row or 1), (count, count)
        ).astype(float)
        np.fill_diagonal(table, 0.0)
        return table


def chosen(values: Sequence[tuple[int, Any]]) -> Any:
    """Return the value of the literal that holds, of which exactly one does.

    The smallest value is a constant, so that it bounds the sum whatever the literals are.
    """
    if not values:
        return 0
    least = min(value for value, _ in values)
    rest = [(value - least, literal) for value, literal in values if value > least]
    return least + sum(amount * literal for amount, literal in rest)
