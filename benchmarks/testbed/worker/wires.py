"""Streams: queues that hold so many tuples and no more, within a device or over TCP.

Over TCP the sender counts what the receiver has not yet processed; the receiver tells, a byte for
every few tuples. So a queue holds the same number wherever it is, tuples on their way included.
"""

import socket
from collections import deque
from contextlib import suppress

CHUNK = 1 << 18
CREDIT = 4  # bytes tell a quarter of a queue each
_ZEROS = memoryview(bytes(CHUNK))
_BUFFER = bytearray(CHUNK)


class Queue:
    """A stream within a device.

    Attributes
    ----------
    waiting
        Tuples that its operator has not processed yet.
    passed
        Tuples put on it so far.
    inbox
        Its operator's: the queues that tuples came by, in the order in which they came.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.waiting = 0
        self.passed = 0
        self.inbox: deque[Queue] = deque()

    @property
    def full(self) -> bool:
        """Whether nothing more is taken for now."""
        return self.waiting >= self.limit

    def put(self, tuples: int) -> None:
        """Add tuples."""
        self.count(tuples)
        self.inbox.extend([self] * tuples)

    def count(self, tuples: int) -> None:
        """Count tuples that were added."""
        self.waiting += tuples
        self.passed += tuples

    def take(self) -> None:
        """Remove a tuple that has been processed."""
        self.waiting -= 1

    def flush(self) -> bool:
        """Send what there is; return whether something is left. Nothing to do here."""
        return False


class Sender(Queue):
    """The near end of a stream to another device; `waiting` counts until the far end processed."""

    def __init__(self, limit: int, tuple_bytes: int, link: socket.socket) -> None:
        super().__init__(limit)
        self.link = link
        self._bytes = tuple_bytes
        self._unsent = 0
        self._chunk = chunk_of(limit)

    def put(self, tuples: int) -> None:
        """Add tuples; `flush` sends them."""
        self.count(tuples)
        self._unsent += tuples * self._bytes

    def flush(self) -> bool:
        """Send what the socket takes; return whether something is left."""
        with suppress(BlockingIOError):
            while self._unsent:
                self._unsent -= self.link.send(_ZEROS[: self._unsent])
        return self._unsent > 0

    def readable(self) -> None:
        """Learn how many tuples the far end has processed."""
        told = self.link.recv_into(_BUFFER)
        if not told:
            raise ConnectionError("the receiver of a stream is gone")
        self.waiting -= told * self._chunk


class Receiver(Queue):
    """The far end of a stream from another device."""

    def __init__(self, limit: int, tuple_bytes: int, link: socket.socket) -> None:
        super().__init__(limit)
        self.link = link
        self._bytes = tuple_bytes
        self._partial = 0
        self._untold = 0
        self._chunk = chunk_of(limit)

    def readable(self) -> None:
        """Receive bytes; a tuple counts when all of it is here."""
        got = self.link.recv_into(_BUFFER)
        if not got:
            raise ConnectionError("the sender of a stream is gone")
        whole, self._partial = divmod(self._partial + got, self._bytes)
        self.put(whole)

    def take(self) -> None:
        """Remove a tuple; `flush` tells the sender."""
        super().take()
        self._untold += 1

    def flush(self) -> bool:
        """Tell the sender what was processed; return whether something is left to tell."""
        chunks = self._untold // self._chunk
        if chunks:
            with suppress(BlockingIOError):
                self._untold -= self._chunk * self.link.send(_ZEROS[:chunks])
        return self._untold >= self._chunk


def chunk_of(limit: int) -> int:
    """Return how many tuples a byte of credit tells."""
    return max(1, limit // CREDIT)
