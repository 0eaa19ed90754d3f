"""Channels between devices, over TCP on the loopback interface."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue

import pytest

from benchmarks.testbed.passes.worker.channels import Channel, Outgoing, receive
from benchmarks.testbed.passes.worker.executor import Arrival

SIZES = (0, 1, 12, 20_000, 100_000, 3)


@contextmanager
def connection() -> Iterator[tuple[socket.socket, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as near:
        near.connect(server.getsockname())
        far, _ = server.accept()
        with far:
            yield near, far


def received(link: socket.socket, latency_s: float = 0.0) -> list[Arrival]:
    """Return all messages of a connection until it closes."""
    arrivals: SimpleQueue[Arrival] = SimpleQueue()
    with pytest.raises(ConnectionError):
        receive(link, arrivals, [latency_s])
    return [arrivals.get() for _ in range(arrivals.qsize())]


def sent_by(channel: Channel, links: list[socket.socket]) -> None:
    """Put a message of each size on a channel, to the devices in turn, and close it after them."""
    for i, size in enumerate(SIZES):
        channel.put(Outgoing(links[i % len(links)], 4, i, size))


def test_messages_arrive_in_order() -> None:
    with connection() as (near, far):
        channel = Channel(several=False)
        sent_by(channel, [near])
        arrivals: SimpleQueue[Arrival] = SimpleQueue()
        far.settimeout(0.5)
        with pytest.raises(TimeoutError):  # the connection stays open
            receive(far, arrivals, [0.0])
        found = [arrivals.get() for _ in SIZES]
    assert [(job, message) for _, job, message in found] == [(4, i) for i in range(len(SIZES))]
    assert [at for at, *_ in found] == sorted(at for at, *_ in found)


def test_a_message_counts_when_its_last_byte_has_arrived() -> None:
    with connection() as (near, far):
        near.sendall(b"\0\0\0\1\0\0\0\2\0\0\0\5" + b"1234")
        near.shutdown(socket.SHUT_WR)
        assert received(far) == []
    with connection() as (near, far):
        near.sendall(b"\0\0\0\1\0\0\0\2\0\0\0\5" + b"12345")
        near.shutdown(socket.SHUT_WR)
        ((_, job, message),) = received(far)
    assert (job, message) == (1, 2)


def test_one_channel_serves_several_devices() -> None:
    with connection() as (near, far), connection() as (other_near, other_far):
        sent_by(Channel(several=True), [near, other_near])
        found = []
        for link in (far, other_far):
            arrivals: SimpleQueue[Arrival] = SimpleQueue()
            link.settimeout(0.5)
            with pytest.raises(TimeoutError):
                receive(link, arrivals, [0.0])
            found.append([arrivals.get().message for _ in range(arrivals.qsize())])
    assert found == [[0, 2, 4], [1, 3, 5]]
