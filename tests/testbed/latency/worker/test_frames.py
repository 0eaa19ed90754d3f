"""Tuples as bytes of a connection."""

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.testbed.latency.worker.frames import HEADER, Incoming, Outgoing

SIZES = {0: HEADER.size, 1: 13, 2: 3_000, 3: 60_000}
tuples = st.lists(st.tuples(st.sampled_from(list(SIZES)), st.floats(0, 1e9)), max_size=8)


@given(sent=tuples)
def test_streams_and_births_arrive_in_order(sent: list[tuple[int, float]]) -> None:
    near, far = socket.socketpair()
    with near, far:
        near.setblocking(False)
        outgoing, incoming = Outgoing(near, SIZES), Incoming(far, SIZES)
        for one in sent:
            outgoing.put(*one)
        found: list[tuple[int, float]] = []
        while len(found) < len(sent):
            outgoing.flush()
            found += incoming.receive()
        assert found == sent
        assert not outgoing.is_waiting


def test_a_tuple_counts_when_its_last_byte_has_arrived() -> None:
    near, far = socket.socketpair()
    with near, far:
        far.setblocking(False)  # as in the worker
        incoming = Incoming(far, {7: 20})
        whole = HEADER.pack(0.25, 7) + bytes(8)
        for part in (whole[:5], whole[5:12], whole[12:19]):
            near.sendall(part)
            assert incoming.receive() == []
        near.sendall(whole[19:] + whole)
        assert incoming.receive() == [(7, 0.25), (7, 0.25)]


def test_a_closed_connection_is_an_error() -> None:
    near, far = socket.socketpair()
    with far:
        near.close()
        with pytest.raises(ConnectionError, match="another device has ended"):
            Incoming(far, SIZES).receive()
