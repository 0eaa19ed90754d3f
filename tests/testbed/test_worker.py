"""The testbed's worker: counts of tuples, streams over a socket pair, and CPU work."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.testbed.jobs import phases
from benchmarks.testbed.worker.burning import Burner
from benchmarks.testbed.worker.operators import Operator, Output
from benchmarks.testbed.worker.wires import Queue, Receiver, Sender, chunk_of


@given(st.lists(st.floats(0, 3), min_size=1, max_size=4), st.integers(0, 300))
def test_fractional_selectivities_do_not_drift(selectivities: list[float], count: int) -> None:
    """After n tuples a stream has carried n times its selectivity, to within one tuple."""
    queues = [Queue(10**6) for _ in selectivities]
    outputs = zip(queues, selectivities, phases(selectivities), strict=True)
    operator = Operator(0.0, [], [Output(*one) for one in outputs], rate=1.0)
    for _ in range(count):
        operator.emit()
    for queue, selectivity in zip(queues, selectivities, strict=True):
        assert abs(queue.passed - count * selectivity) <= 1.0


@pytest.mark.parametrize("parts", range(1, 8))
def test_a_split_distributes_tuples_in_turn(parts: int) -> None:
    queues = [Queue(10**6) for _ in range(parts)]
    outputs = zip(queues, [1 / parts] * parts, phases([1 / parts] * parts), strict=True)
    operator = Operator(0.0, [], [Output(*one) for one in outputs], rate=1.0)
    for count in range(5 * parts):
        assert len(operator.emit()) == 1
        assert max(q.passed for q in queues) - min(q.passed for q in queues) <= 1, count
    assert {queue.passed for queue in queues} == {5}


def test_a_full_queue_blocks_the_operators_upstream() -> None:
    first, second = Queue(2), Queue(2)
    source = Operator(0.0, [], [Output(first, 1.0, 0.0)], rate=10.0, backlog=100.0)
    sink = Operator(0.0, [first], [Output(second, 0.5, 0.0)])
    assert not source.ready(0.05)
    for _ in range(2):
        assert source.ready(1.0)
        source.emit()
    assert not source.ready(1.0)
    sink.take()
    assert source.ready(1.0)
    second.put(2)
    sink.processed = 0  # its next tuple produces none, so the full queue does not matter
    assert sink.ready(1.0)
    sink.processed = 1
    assert not sink.ready(1.0)


def test_a_source_loses_tuples_beyond_its_backlog() -> None:
    source = Operator(0.0, [], [], rate=10.0, backlog=5.0)
    assert source.ready(2.0)
    assert source.lost == 15.0
    taken = 0
    while source.ready(2.0):
        source.emit()
        taken += 1
    assert taken == 5


def test_tuples_are_taken_in_order_of_arrival() -> None:
    near, far = Queue(9), Queue(9)
    operator = Operator(0.0, [near, far], [])
    near.put(2)
    far.put(1)
    near.put(1)
    assert [operator.take() for _ in range(5)] == [near, near, far, near, None]
    assert (near.waiting, far.waiting) == (0, 0)


@contextmanager
def wire(limit: int, size: int) -> Iterator[tuple[Sender, Receiver]]:
    near, far = socket.socketpair()
    with near, far:
        near.setblocking(False)
        far.setblocking(False)
        yield Sender(limit, size, near), Receiver(limit, size, far)


def test_a_wire_counts_complete_tuples_and_respects_its_limit() -> None:
    with wire(8, 1000) as (sender, receiver):
        sender.put(2)
        assert not sender.flush()
        receiver.readable()
        assert (receiver.waiting, receiver.passed) == (2, 2)
        sender.put(6)
        assert sender.full
        sender.flush()
        receiver.readable()
        receiver.take()
        assert not receiver.flush()  # a byte acknowledges two tuples
        with pytest.raises(BlockingIOError):
            sender.readable()
        receiver.take()
        receiver.flush()
        sender.readable()
        assert (sender.waiting, receiver.waiting) == (6, 6)
        assert not sender.full


def test_a_tuple_counts_when_all_its_bytes_have_arrived() -> None:
    with wire(4, 3_000_000) as (sender, receiver):
        sender.put(1)
        while sender.flush():
            assert receiver.waiting == 0
            receiver.readable()
        while receiver.waiting == 0:
            receiver.readable()
        assert receiver.passed == 1


def test_a_closed_wire_is_an_error() -> None:
    with wire(8, 10) as (sender, receiver):
        sender.link.close()
        with pytest.raises(ConnectionError):
            receiver.readable()


def test_credit_is_at_least_one_tuple_per_byte() -> None:
    assert [chunk_of(limit) for limit in (1, 3, 8, 16)] == [1, 1, 2, 4]


def test_work_is_cpu_time() -> None:
    burner = Burner()
    begin = time.thread_time_ns()
    for step in range(1, 21):
        burner.until(begin + step * 1_000_000)
    assert time.thread_time_ns() - begin >= 19_990_000
    assert burner.rounds > 1000
    assert 0 < burner.spent_ns <= time.thread_time_ns() - begin
