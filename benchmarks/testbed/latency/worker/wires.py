"""The connections of a device, which it serves while it waits."""

import select
import time
from collections.abc import Callable, Sequence

from benchmarks.testbed.latency.worker.frames import Incoming, Outgoing
from benchmarks.testbed.worker.burning import clock

STDIN = 0  # closed when the run that started this device has ended


class Wires:
    """Receives tuples and sends what could not be sent at once.

    Parameters
    ----------
    enter
        Takes a tuple that has arrived: the number of its stream, and its birth.
    """

    def __init__(
        self,
        incoming: Sequence[Incoming],
        outgoing: Sequence[Outgoing],
        enter: Callable[[int, float], None],
    ) -> None:
        self._incoming = {one.link.fileno(): one for one in incoming}
        self._outgoing = outgoing
        self._enter = enter

    def serve(self, seconds: float) -> bool:
        """Wait for events of the network for at most so long; return whether there were any."""
        sending = {one.link.fileno(): one for one in self._outgoing if one.is_waiting}
        # Python's epoll and poll round up to milliseconds, select does not.
        readable, writable, _ = select.select(
            (STDIN, *self._incoming), sending, (), max(0.0, seconds)
        )
        for number in writable:
            sending[number].flush()
        for number in readable:
            if number == STDIN:
                raise SystemExit(0)
            for stream, birth_s in self._incoming[number].receive():
                self._enter(stream, birth_s)
        return bool(readable or writable)

    def rest(self, seconds: float) -> int:
        """Serve the network for so many seconds; return the CPU nanoseconds of that."""
        begin, until_s = clock(), time.monotonic() + seconds
        while (left := until_s - time.monotonic()) > 0:
            self.serve(left)
        return clock() - begin
