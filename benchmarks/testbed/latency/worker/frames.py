"""Tuples between two devices, as bytes over one TCP connection in each direction.

The first 8 bytes of a tuple are the time of its birth, and the next 4 the number of its stream. The
tuples of all streams from one device to another are sent one after another, as on one link.
"""

import socket
import struct
from collections.abc import Mapping
from contextlib import suppress

HEADER = struct.Struct("!dI")
CHUNK = 1 << 18  # bytes received at once
MOST_AWAITED = 16_384  # bytes for which a connection waits before it wakes its device


class Outgoing:
    """The sending end.

    Parameters
    ----------
    sizes
        Number of a stream -> bytes of its tuples.
    """

    def __init__(self, link: socket.socket, sizes: Mapping[int, int]) -> None:
        self.link = link
        self._sizes = sizes
        self._unsent = bytearray()

    @property
    def is_waiting(self) -> bool:
        """Whether bytes wait for room in the socket."""
        return bool(self._unsent)

    def put(self, stream: int, birth_s: float) -> None:
        """Add a tuple; `flush` sends it."""
        self._unsent += HEADER.pack(birth_s, stream) + bytes(self._sizes[stream] - HEADER.size)

    def flush(self) -> None:
        """Send what the socket accepts."""
        with suppress(BlockingIOError):
            while self._unsent:
                del self._unsent[: self.link.send(self._unsent)]


class Incoming:
    """The receiving end; parameters as of `Outgoing`."""

    def __init__(self, link: socket.socket, sizes: Mapping[int, int]) -> None:
        self.link = link
        self._sizes = sizes
        self._partial = bytearray()
        self._awaited = 1

    def receive(self) -> list[tuple[int, float]]:
        """Return the tuples that are complete: the stream and the birth of each.

        Raises
        ------
        ConnectionError
            If the other device has ended.
        """
        got = self.link.recv(CHUNK)
        if not got:
            raise ConnectionError("another device has ended")
        self._partial += got
        complete = []
        missing = HEADER.size - len(self._partial)
        while missing <= 0:
            birth_s, stream = HEADER.unpack_from(self._partial)
            missing = self._sizes[stream] - len(self._partial)
            if missing > 0:
                break
            complete.append((stream, birth_s))
            del self._partial[: self._sizes[stream]]
            missing = HEADER.size - len(self._partial)
        self._await(min(missing, MOST_AWAITED))
        return complete

    def _await(self, count: int) -> None:
        """Let the connection count as readable with so many bytes, not with each packet."""
        if count != self._awaited:
            self.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, count)
            self._awaited = count
