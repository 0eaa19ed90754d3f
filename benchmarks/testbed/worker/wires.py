"""Streams: bounded queues of tuples, within a device or over TCP.

Over TCP the sender counts the tuples that the receiver has not processed yet, and the receiver
acknowledges them with one byte for every few tuples. A queue thus holds the same number of tuples
in both cases, and tuples in flight count.
"""

import socket
from collections import deque
from contextlib import suppress

CHUNK = 1 << 18  # bytes sent or received at once
CREDIT = 4  # a byte acknowledges a quarter of a queue
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
        Inbox of its operator: the queue of each waiting tuple, in order of arrival.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.waiting = 0
        self.passed = 0
        self.inbox: deque[Queue] = deque()

    @property
    def full(self) -> bool:
        """Whether the queue has no room."""
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
        """Send what is unsent; return whether something is left. Nothing to do in a local queue."""
        return False


class Sender(Queue):
    """The sending end of a stream to another device.

    `waiting` counts the tuples that the receiver has not processed.
    """

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
        """Send what the socket accepts; return whether something is left."""
        with suppress(BlockingIOError):
            while self._unsent:
                self._unsent -= self.link.send(_ZEROS[: self._unsent])
        return self._unsent > 0

    def readable(self) -> None:
        """Read how many tuples the receiver has processed."""
        credit = self.link.recv_into(_BUFFER)
        if not credit:
            raise ConnectionError("the receiver of a stream has ended")
        self.waiting -= credit * self._chunk


class Receiver(Queue):
    """The receiving end of a stream from another device."""

    def __init__(self, limit: int, tuple_bytes: int, link: socket.socket) -> None:
        super().__init__(limit)
        self.link = link
        self._bytes = tuple_bytes
        self._partial = 0
        self._unacknowledged = 0
        self._chunk = chunk_of(limit)

    def readable(self) -> None:
        """Receive bytes; a tuple counts when all its bytes have arrived."""
        got = self.link.recv_into(_BUFFER)
        if not got:
            raise ConnectionError("the sender of a stream has ended")
        complete, self._partial = divmod(self._partial + got, self._bytes)
        self.put(complete)

    def take(self) -> None:
        """Remove a tuple; `flush` acknowledges it to the sender."""
        super().take()
        self._unacknowledged += 1

    def flush(self) -> bool:
        """Acknowledge processed tuples; return whether something is left to acknowledge."""
        chunks = self._unacknowledged // self._chunk
        if chunks:
            with suppress(BlockingIOError):
                self._unacknowledged -= self._chunk * self.link.send(_ZEROS[:chunks])
        return self._unacknowledged >= self._chunk


def chunk_of(limit: int) -> int:
    """Return the number of tuples that a byte of credit acknowledges."""
    return max(1, limit // CREDIT)
