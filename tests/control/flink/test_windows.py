"""Windows in a row, faults of the server, and clocks that differ."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from streamplace.control.flink.sampling import Sampler
from streamplace.control.flink.windows import Devices, Windows
from streamplace.integrations.flink.client import Client
from streamplace.integrations.profiling.rest import Server
from tests.support.flink_actions import PATIENT
from tests.support.flink_server.clock import ManualClock
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.faults import Effect, Fault
from tests.support.flink_server.server import ScriptedFlink

AHEAD_S = 3600.0


@contextmanager
def windows(flink: ScriptedFlink) -> Iterator[Windows]:
    """Yield windows of 300 s, by a clock that is an hour behind that of the server."""
    clock = ManualClock()
    flink.clock = lambda: clock() + AHEAD_S
    with flink.serving() as url:
        sampler = Sampler(Client(Server(url), PATIENT.answer_s), clock)
        yield Windows(sampler, Devices(["a", "b"]), 300.0, clock)


def test_a_window_begins_where_the_one_before_ended() -> None:
    with windows(ScriptedFlink()) as found:
        first, second = found.next(JOB), found.next(JOB)
    assert second.begin_s == pytest.approx(first.at_s)
    assert first.seconds == pytest.approx(300, abs=15)


@pytest.mark.parametrize("fails", [False, True])
def test_the_duration_of_the_latest_checkpoint(fails: bool) -> None:
    flink = ScriptedFlink(checkpoint_ms=61_000)
    with windows(flink) as found:
        found.next(JOB)
        flink.faults = [Fault(Effect.ERROR, ".*/checkpoints")] if fails else []
        observation = found.next(JOB)
    assert observation.checkpoint_s == (None if fails else 61.0)
    assert not observation.missing


def test_times_are_those_of_the_server() -> None:
    with windows(ScriptedFlink()) as found:
        observation = found.next(JOB)
        assert found.skew_s == pytest.approx(AHEAD_S)
        assert observation.at_s == pytest.approx(found.now_s, abs=15)
        assert observation.started_s < observation.at_s


def test_a_window_with_a_fault_at_its_end_is_missing_and_the_next_begins_anew() -> None:
    flink = ScriptedFlink()
    with windows(flink) as found:
        first = found.next(JOB)
        flink.faults = [Fault(Effect.ERROR)]
        second = found.next(JOB)
        flink.faults = []
        third = found.next(JOB)
    assert "HTTP 500" in second.missing[0]
    assert second.at_s > first.at_s
    assert not third.missing
    assert third.begin_s >= second.at_s


def test_a_window_with_a_fault_at_its_beginning_is_missing() -> None:
    flink = ScriptedFlink(faults=[Fault(Effect.ERROR, times=1)])
    with windows(flink) as found:
        assert "HTTP 500" in found.next(JOB).missing[0]
        assert not found.next(JOB).missing
