"""Busy time of chained operators, divided by the work of each."""

from dataclasses import replace
from math import nan

import pytest

from streamplace.engines.flink.documents import Subtask
from streamplace.engines.flink.plan import running
from streamplace.engines.flink.watching.measuring import observation
from streamplace.engines.flink.watching.sampling import Sample
from streamplace.formats.profiling.counters import Counters
from tests.support.flink_watching import running_job

CHAIN = {"id": "v", "parallelism": 2, "description": "Source: s<br/>+- f<br/>", "inputs": []}
SINK = {
    "id": "w",
    "parallelism": 1,
    "description": "g<br/>",
    "inputs": [{"id": "v", "ship_strategy": "HASH"}],
}
PLAN = running({"name": "x", "nodes": [SINK, CHAIN]}, "plan")
ON = {"t": "d"}


def subtask(read: float, busy_ms: float) -> Subtask:
    return Subtask("t", "RUNNING", Counters(read, 0.0, 0.0, 0.0, busy_ms, 1.0, 0.0))


def sample(at_s: float, tuples: float, busy_ms: float) -> Sample:
    rows = {
        "v": (subtask(0, busy_ms), subtask(0, busy_ms / 2)),
        "w": (subtask(tuples, busy_ms / 10),),
    }
    own = {
        "Source: s": Counters(records_out=tuples),
        "f": Counters(records_in=tuples, records_out=tuples / 2),
    }
    return Sample(at_s, running_job(PLAN), rows, own)


BEFORE, AFTER = sample(100, 1000, 10_000), sample(200, 11_000, 70_000)


def test_busy_time_is_divided_by_work() -> None:
    found = observation(BEFORE, AFTER, ON, {"Source: s": 1.0, "f": 3.0})
    assert found.missing == ()
    source, f = found.readings["Source: s"], found.readings["f"]
    assert source.busy + f.busy == pytest.approx((0.6 + 0.3) / 2)
    assert f.busy == pytest.approx(3 * source.busy)
    assert source.busiest == f.busiest == pytest.approx(0.6)
    assert found.readings["g"].busy == pytest.approx(0.06)
    assert (source.tuples_s, f.tuples_s, found.offered_s) == pytest.approx((100, 100, 100))


def test_a_member_without_tuples_needs_no_cost() -> None:
    weights = {"Source: s": 1.0, "f": nan}
    idle = Counters(records_in=0.0, records_out=0.0)
    before, after = (replace(s, operators={**s.operators, "f": idle}) for s in (BEFORE, AFTER))
    found = observation(before, after, ON, weights)
    assert found.missing == ()
    assert found.readings["f"].busy == 0.0
    assert found.readings["Source: s"].busy == pytest.approx((0.6 + 0.3) / 2)


def test_a_chain_without_tuples_needs_no_costs() -> None:
    before, after = sample(100, 1000, 10_000), sample(200, 1000, 10_500)
    found = observation(before, after, ON, {})
    assert found.missing == ()
    assert found.readings["f"].tuples_s == 0.0


@pytest.mark.parametrize("weights", [{}, {"Source: s": nan, "f": 3.0}])
def test_without_the_work_a_chain_cannot_be_divided(weights: dict[str, float]) -> None:
    """A graph that was measured with chains has unknown costs, which are NaN."""
    (fault,) = observation(BEFORE, AFTER, ON, weights).missing
    assert fault.startswith("Source: s is chained with f, and Flink measures only their busy time")


def test_without_its_own_counters_a_source_cannot_be_measured() -> None:
    found = observation(BEFORE, replace(AFTER, operators={}), ON, {"f": 1.0})
    assert found.missing == ("Source: s: Flink does not count the tuples of its chain",)


def test_counters_that_fell_are_missing() -> None:
    found = observation(AFTER, replace(BEFORE, at_s=300.0), ON, {"f": 1.0})
    assert "Source: s: its counters fell, so it was started anew" in found.missing
    assert found.readings == {}


def test_busy_time_that_falls_while_idle_time_grows_is_none() -> None:
    source, other = AFTER.subtasks["v"]
    counters = replace(source.counters, busy_ms=9_000.0, idle_ms=101_000.0)
    after = replace(
        AFTER, subtasks={**AFTER.subtasks, "v": (replace(source, counters=counters), other)}
    )
    found = observation(BEFORE, after, ON, {"Source: s": 1.0, "f": 3.0})
    assert found.missing == ()
    assert found.readings["Source: s"].busiest == pytest.approx(0.3)  # of the other instance


def test_a_clock_that_stands_still_is_missing() -> None:
    found = observation(BEFORE, replace(AFTER, at_s=100.0), ON, {"f": 1.0})
    assert found.missing == ("the server's clock has not moved since the window began",)
    assert found.seconds == 0
