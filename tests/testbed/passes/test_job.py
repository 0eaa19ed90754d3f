"""Documents of single passes, and the channels between devices."""

import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.testbed.passes.job import Job, documents
from benchmarks.testbed.passes.worker.channels import Channel, Outgoing, receive
from benchmarks.testbed.passes.worker.executor import Arrival
from tests.support.passes import random_job

SEEDS = st.integers(0, 10_000)


def inputs(made: list[dict[str, Any]]) -> Counter[int]:
    """Return how many inputs of each operator the devices will count."""
    local = [w for each in made for task in each["tasks"] for w in task[3]]
    remote = [w for each in made for _, consumers in each["consumers"] for w in consumers]
    return Counter(local + remote)


@given(SEEDS, st.booleans())
def test_every_stream_is_one_input_of_its_target(seed: int, shared: bool) -> None:
    job = random_job(seed, shared=shared)
    made = documents(job, 7)
    assert inputs(made) == Counter(job.target.tolist())
    for d, each in enumerate(made):
        for v, cost_ns, count, outputs, _ in each["tasks"]:
            assert job.devices[v] == d
            assert cost_ns == job.cost_ns[v]
            assert count == (job.target == v).sum()
            assert all(job.devices[w] == d for w in outputs)


@given(SEEDS, st.booleans())
def test_a_message_has_one_sender_and_one_receiver(seed: int, shared: bool) -> None:
    job = random_job(seed, shared=shared)
    made = documents(job, 7)
    sent = {number: (d, to) for d, each in enumerate(made) for number, to, _ in each["messages"]}
    received = {number: d for d, each in enumerate(made) for number, _ in each["consumers"]}
    assert {number: to for number, (_, to) in sent.items()} == received
    handed = [i for each in made for task in each["tasks"] for i in task[4]]
    assert sorted(handed) == sorted(sent)
    assert all(a != b for a, b in sent.values())


@given(SEEDS)
def test_consumers_on_one_device_may_share_the_largest_message(seed: int) -> None:
    alone, shared = (
        [row for each in documents(random_job(seed, shared=s), 1) for row in each["messages"]]
        for s in (False, True)
    )
    job = random_job(seed)
    sizes: dict[tuple[int, int], list[int]] = {}
    for v, w, size in zip(job.source, job.target, job.size, strict=True):
        if job.devices[v] != job.devices[w]:
            sizes.setdefault((int(v), int(job.devices[w])), []).append(int(size))
    assert sorted(size for *_, size in alone) == sorted(s for each in sizes.values() for s in each)
    assert sorted(size for *_, size in shared) == sorted(max(each) for each in sizes.values())


def test_messages_of_an_operator_are_in_the_order_of_its_streams() -> None:
    job: Job = random_job(3)
    for each in documents(job, 1):
        for *_, messages in each["tasks"]:
            assert messages == sorted(messages)


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
