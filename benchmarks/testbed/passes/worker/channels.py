"""Channels to and from other devices: messages one after another, as bytes over TCP."""

import fcntl
import os
import socket
import struct
import time
import traceback
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple

from benchmarks.testbed.passes.worker.executor import Arrival

HEADER = struct.Struct("!III")
"""Number of the job, number of the message, and bytes after the header."""
SEND_BUFFER_BYTES = 32_768
CHUNK = 16_384  # bytes sent or received at once
UNSENT = 0x894B  # SIOCOUTQNSD: bytes of a socket that have not reached the link's queue
POLL_S = 2e-4
_ZEROS = memoryview(bytes(CHUNK))


class Outgoing(NamedTuple):
    """A message on its way to a channel."""

    link: socket.socket
    job: int
    message: int
    size: int


class Channel:
    """Sends messages one after another, in the order in which they were put on it.

    A message starts when the one before it has left for the link, whichever device that one went
    to. The kernel keeps the bytes of one connection in order. With several connections, the
    channel waits until the kernel has put all bytes of a message into the queue of the link.
    """

    def __init__(self, *, several: bool) -> None:
        self._several = several
        self._queue: SimpleQueue[Outgoing] = SimpleQueue()
        Thread(target=ends_with_the_process(self._run), daemon=True).start()

    def put(self, message: Outgoing) -> None:
        """Queue a message."""
        self._queue.put(message)

    def _run(self) -> None:
        while True:
            link, job, message, size = self._queue.get()
            link.sendall(HEADER.pack(job, message, size))
            while size:
                size -= link.send(_ZEROS[: min(size, CHUNK)])
            while self._several and _unsent(link):
                time.sleep(POLL_S)


def _unsent(link: socket.socket) -> int:
    return struct.unpack("i", fcntl.ioctl(link, UNSENT, struct.pack("i", 0)))[0]  # type: ignore[no-any-return]


def receive(
    link: socket.socket, arrivals: "SimpleQueue[Arrival]", latencies_s: Sequence[float]
) -> None:
    """Put every message that arrives on a connection into a queue, as long as it is open.

    Parameters
    ----------
    latencies_s
        (1,) seconds of latency, which a job may change.
    """
    buffer = bytearray(CHUNK)
    while True:
        job, message, left = HEADER.unpack(_exactly(link, buffer, HEADER.size))
        while left:
            left -= len(_exactly(link, buffer, min(left, CHUNK)))
        arrivals.put(Arrival(time.monotonic() + latencies_s[0], job, message))


def _exactly(link: socket.socket, buffer: bytearray, size: int) -> memoryview:
    """Receive so many bytes; this thread waits in the kernel until they are complete."""
    view = memoryview(buffer)[:size]
    got = 0
    while got < size:
        more = link.recv_into(view[got:], size - got, socket.MSG_WAITALL)
        if not more:
            raise ConnectionError("another device has ended")
        got += more
    return view


def ends_with_the_process(work: Callable[[], None]) -> Callable[[], None]:
    """Return a function for a thread, at whose end the whole process ends."""

    def run() -> None:
        try:
            work()
        except ConnectionError:
            pass  # another device has ended; the parent process reports that
        except BaseException:
            traceback.print_exc()
        os._exit(1)

    return run
