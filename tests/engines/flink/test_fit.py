"""Fits of recorded Flink counters, where the true numbers are known."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from streamplace.engines.flink.fit import chain_notes, fit
from streamplace.engines.flink.plan import RunningPlan, running
from streamplace.errors import ProblemError
from streamplace.formats.profiling.counters import (
    Counters,
    Reading,
    jittered_pauses,
    usable_readings,
)
from streamplace.formats.profiling.profile import Profile, current_placement
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.expansion import to_instances
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import throughput_evaluator

MIPS = 2000.0
Change = Callable[[int, str, Counters], Counters]


def running_plan(
    nodes: dict[str, list[str]], ship: str = "FORWARD", parallelism: int = 1
) -> RunningPlan:
    """Return a plan of vertices; `nodes` is description -> inputs."""
    described = [
        {
            "id": name,
            "description": name,
            "parallelism": parallelism if feeding else 1,
            "inputs": [{"id": each, "ship_strategy": ship} for each in feeding],
        }
        for name, feeding in nodes.items()
    ]
    return running({"name": "x", "nodes": described}, "x")


LINE = running_plan({"s": [], "a": ["s"], "z": ["a"]})
DIAMOND = running_plan({"s": [], "a": ["s"], "b": ["s"], "j": ["a", "b"], "z": ["j"]})


def recorded(
    per_second: dict[str, Counters], count: int = 8, change: Change | None = None
) -> list[Reading]:
    """Return one reading per second of counters that grow evenly from 1,000."""

    def at(second: int, rates: Counters) -> Counters:
        return Counters(
            **{what: None if r is None else 1000 + r * second for what, r in vars(rates).items()}
        )

    readings = []
    for i in range(count):
        now = {name: at(i, rates) for name, rates in per_second.items()}
        if change is not None:
            now = {name: change(i, name, counted) for name, counted in now.items()}
        readings.append(Reading(100.0 + i, now))
    return readings


def counters_of_line(**of_source: float) -> dict[str, Counters]:
    source = {"busy_ms": 100.0, "idle_ms": 900.0, "backpressured_ms": 0.0, **of_source}
    return {
        "s": Counters(records_in=0, records_out=50, bytes_in=0, bytes_out=5000, **source),
        "a": Counters(50, 25, 5000, 10_000, 200, 800, 0),
        "z": Counters(25, 0, 10_000, 0, 10, 990, 0),
    }


def operator(found: Profile, name: str) -> Any:
    return next(each for each in found.operators if each.name == name)


def stream(found: Profile, source: str, target: str) -> Any:
    return next(each for each in found.streams if (each.source, each.target) == (source, target))


def test_chain_of_operators() -> None:
    found = fit(LINE, recorded(counters_of_line()), MIPS)
    assert found.source_rate.value == pytest.approx(50)
    assert operator(found, "s").instructions.value == pytest.approx(2e-3 * MIPS * 1e6)
    assert operator(found, "a").instructions.value == pytest.approx(4e-3 * MIPS * 1e6)
    assert operator(found, "a").instructions.error == pytest.approx(0, abs=1e-3)
    assert stream(found, "a", "z").selectivity.value == pytest.approx(0.5)
    assert stream(found, "a", "z").payload_bytes.value == pytest.approx(400)
    assert operator(found, "z").payload_bytes.value == 0
    graph = found.logical.graph
    assert graph.lacking == []
    assert graph.source_rate == pytest.approx(50)
    hosts = {"s": ["t"], "a": ["t"], "z": ["u"]}
    now = current_placement(graph, hosts, {"t": 2, "v": 1}, MIPS)
    assert now.assignment == {"s": "t", "a": "t", "z": "u"}
    assert [device.cores for device in now.problem.cluster.devices] == [2, 1, 1]
    with pytest.raises(ProblemError, match="the TaskManager of operator 'z' is unknown"):
        current_placement(graph, {"s": ["t"], "a": ["t"]}, {"t": 1}, MIPS)


def test_filling_buffers_change_neither_selectivities_nor_payloads() -> None:
    counters = counters_of_line() | {"z": Counters(10, 0, 4000, 0, 10, 0, 0)}  # z is a bottleneck
    last = stream(fit(LINE, recorded(counters), MIPS), "a", "z")
    assert last.selectivity.value == pytest.approx(0.5, rel=1e-3)
    assert last.payload_bytes.value == pytest.approx(400, rel=1e-3)


def test_fork_and_join_from_counters_of_both_ends() -> None:
    found = fit(
        DIAMOND,
        recorded(
            {
                "s": Counters(0, 100, 0, 6000, 1, 9, 0),  # a tuple counts once, its bytes twice
                "a": Counters(100, 50, 3000, 5000, 1, 9, 0),
                "b": Counters(100, 200, 3000, 8000, 1, 9, 0),
                "j": Counters(250, 25, 13_000, 50, 1, 9, 0),
                "z": Counters(25, 0, 50, 0, 1, 9, 0),
            }
        ),
        MIPS,
    )
    true = {"sa": (1, 30), "sb": (1, 30), "aj": (0.5, 100), "bj": (2, 40), "jz": (0.1, 2)}
    for ends, numbers in true.items():
        fitted = stream(found, ends[0], ends[1])
        assert (fitted.selectivity.value, fitted.payload_bytes.value) == pytest.approx(numbers)
    assert found.logical.graph.lacking == []


def test_a_branch_without_tuples_has_selectivity_0_and_needs_no_costs() -> None:
    """Counters that did not grow are exactly 0, whatever rounding least squares leave."""
    plan = running_plan({"s": [], "parse": ["s"], "store": ["parse"], "rejected": ["parse"]})
    for rate in (48, 49, 50, 51, 53):
        nothing = Counters(0, 0, 0, 0, 0, 1000, 0)
        counters = {
            "s": Counters(0, rate, 0, rate * 100, 50, 950, 0),
            "parse": Counters(rate, rate, rate * 100, rate * 100, 200, 800, 0),
            "store": Counters(rate, 0, rate * 100, 0, 10, 990, 0),
            "rejected": nothing,
        }
        found = fit(plan, recorded(counters), MIPS)
        branch = stream(found, "parse", "rejected")
        assert (branch.selectivity.value, branch.selectivity.error) == (0.0, 0.0)
        assert branch.payload_bytes.value is None
        graph = found.logical.graph
        assert graph.unknown == {}
        assert graph.unknown_without_tuples == ["rejected"]
        current_placement(graph, {name: ["t"] for name in graph.names}, {"t": 2}, MIPS)


def test_join_of_few_large_and_many_small_tuples() -> None:
    """Flink counts sent bytes by whole buffers, so single readings are imprecise."""

    def at(second: int) -> dict[str, Counters]:
        large, small = (second * 3) // 4, (second * 3) // 4 * 3 + second * 3 % 4
        received = large * 20_000 + small * 2_000
        return {
            "s": Counters(0, large + small, 0, 0, 0, 0, 0),
            "a": Counters(0, large, 0, large * 20_000 >> 15 << 15, 0, 0, 0),
            "b": Counters(0, small, 0, small * 2_000 >> 15 << 15, 0, 0, 0),
            "j": Counters(large + small, 0, received, 0, 0, 0, 0),
            "z": Counters(0, 0, 0, 0, 0, 0, 0),
        }

    found = fit(DIAMOND, [Reading(float(second), at(second)) for second in range(120)], MIPS)
    assert stream(found, "a", "j").payload_bytes.value == pytest.approx(20_000, rel=0.01)
    assert stream(found, "b", "j").payload_bytes.value == pytest.approx(2_000, rel=0.03)


@pytest.mark.parametrize("period_s", [0.51, 0.67, 1.01])
def test_job_period_close_to_reading_period(period_s: float) -> None:
    """Flink counts waiting as idle only when the next tuple arrives; each tuple takes 20 ms."""
    relative_errors = []
    for seed in range(9):
        pauses, now, readings = jittered_pauses(seed), 100.0, []
        while now < 220:
            tuples = int(now / period_s)  # one arrives per period
            begun = now - tuples * period_s
            waiting = max(begun - 0.02, 0.0)  # for the next tuple
            busy = min(begun, 0.02) + (tuples - 1) * 0.02 + waiting
            counters = Counters(tuples, tuples, tuples, tuples, busy * 1e3, (now - busy) * 1e3, 0)
            readings.append(Reading(now, dict.fromkeys("saz", counters)))
            now += next(pauses)
        of_a = operator(fit(LINE, readings, MIPS), "a").instructions.value
        relative_errors.append(of_a / (0.02 * MIPS * 1e6) - 1)
    assert abs(np.mean(relative_errors)) < 0.05
    assert np.abs(relative_errors).max() < 0.25


def test_streams_that_counters_cannot_distinguish_are_missing() -> None:
    crossed = running_plan({"s": [], "t": [], "a": ["s", "t"], "b": ["s", "t"]})
    found = fit(
        crossed,
        recorded({name: Counters(9, 9, 9, 9, 9, 9, 0) for name in "stab"}),
        MIPS,
    )
    assert {s.selectivity.how for s in found.streams} == {"missing"}
    assert "selectivity" in " ".join(found.logical.graph.unknown)


def test_broadcast_tuples_arrive_once_per_instance() -> None:
    spread = running_plan({"s": [], "a": ["s"]}, "BROADCAST", parallelism=4)
    found = fit(
        spread,
        recorded({"s": Counters(0, 10, 0, 4000, 1, 9, 0), "a": Counters(40, 0, 4000, 0, 8, 9, 0)}),
        MIPS,
    )
    assert stream(found, "s", "a").selectivity.value == pytest.approx(1)
    assert stream(found, "s", "a").payload_bytes.value == pytest.approx(100)


@pytest.mark.parametrize(
    ("busy_ms", "backpressured_ms", "instructions", "rate"),
    [
        (100.0, 0.0, "measured", "measured"),
        (1000.0, 0.0, "bound", "measured"),  # blocked, or really that busy
        (300.0, 600.0, "measured", "bound"),
        (500.0, 500.0, "bound", "bound"),
    ],
)
def test_sources_that_may_be_blocked_or_are_under_backpressure(
    busy_ms: float, backpressured_ms: float, instructions: str, rate: str
) -> None:
    counters = counters_of_line(busy_ms=busy_ms, backpressured_ms=backpressured_ms)
    found = fit(LINE, recorded(counters), MIPS)
    assert operator(found, "s").instructions.how == instructions
    assert found.source_rate.how == rate
    assert (found.logical.graph.source_rate is None) == (rate == "bound")
    assert bool(np.isnan(found.logical.graph.instructions[0])) == (instructions == "bound")
    assert operator(found, "a").instructions.how == "measured"


def test_vertex_without_counters_is_missing_not_0() -> None:
    def lost(i: int, name: str, counters: Counters) -> Counters:
        return Counters() if name == "a" else counters

    found = fit(LINE, recorded(counters_of_line(), change=lost), MIPS)
    assert operator(found, "a").instructions.how == "missing"
    assert operator(found, "a").rate.value is None
    assert stream(found, "s", "a").selectivity.value == pytest.approx(1)  # counted by s
    assert stream(found, "a", "z").payload_bytes.value == pytest.approx(400)  # counted by z
    assert stream(found, "a", "z").selectivity.how == "missing"


def test_incomplete_readings_are_skipped() -> None:
    def lost(i: int, name: str, counters: Counters) -> Counters:
        return Counters() if name == "a" and i % 4 == 3 else counters

    found = fit(LINE, recorded(counters_of_line(), 12, lost), MIPS)
    assert operator(found, "a").instructions.value == pytest.approx(4e-3 * MIPS * 1e6)
    assert stream(found, "a", "z").selectivity.value == pytest.approx(0.5)


def test_server_that_caches_metrics_for_ten_seconds() -> None:
    every_second = recorded(counters_of_line(), 60)
    lazy = [replace(every_second[i], at_s=every_second[i].at_s) for i in range(60)]
    kept = every_second[0]
    for i in range(60):
        lazy[i] = replace(kept, at_s=every_second[i].at_s)
        if i % 10 == 4:
            kept = every_second[i]  # metrics fetched now appear from the next answer onwards
    assert [reading.at_s for reading in usable_readings(lazy)] == [104, 114, 124, 134, 144, 154]
    found = fit(LINE, lazy, MIPS)
    assert found.intervals == 5
    assert found.source_rate.value == pytest.approx(50)


def test_task_managers_that_update_one_after_another() -> None:
    full = recorded(counters_of_line(), 40)
    lazy = []
    kept = late = full[0]
    for i in range(40):
        late = kept if i % 10 == 6 else late
        parts = {**kept.vertices, "z": late.vertices["z"]}
        lazy.append(Reading(full[i].at_s, parts))
        kept = full[i] if i % 10 == 4 else kept
    found = fit(LINE, lazy, MIPS)
    assert found.source_rate.value == pytest.approx(50)
    assert stream(found, "a", "z").selectivity.value == pytest.approx(0.5)


def test_restarted_job_is_measured_from_the_restart() -> None:
    before, after = recorded(counters_of_line(), 10), recorded(counters_of_line(), 6)
    later = [replace(reading, at_s=reading.at_s + 10) for reading in after]
    found = fit(LINE, [*before, *later], MIPS)
    assert found.intervals == 4
    assert found.source_rate.value == pytest.approx(50)


def test_sources_under_backpressure_keep_their_measured_shares() -> None:
    two = running_plan({"s": [], "t": [], "j": ["s", "t"]})
    held = {"busy_ms": 100.0, "idle_ms": 0.0, "backpressured_ms": 900.0}
    found = fit(
        two,
        recorded(
            {
                "s": Counters(0, 900, 0, 9000, **held),
                "t": Counters(0, 100, 0, 1000, **held),
                "j": Counters(1000, 0, 10_000, 0, 999, 1, 0),
            }
        ),
        MIPS,
    )
    assert found.source_rate.how == "bound"
    assert "the sources' shares are as measured" in found.source_rate.why
    graph = found.logical.graph
    assert graph.source_share.tolist() == pytest.approx([0.9, 0.1, 0])


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_readings_yield_only_the_topology(count: int) -> None:
    found = fit(LINE, recorded(counters_of_line(), count), MIPS)
    assert found.source_rate.how == "missing"
    assert "changed fewer than two times" in operator(found, "a").instructions.why
    assert len(found.logical.graph.streams) == 2
    assert len(found.logical.graph.unknown) == 3
    json.dumps(found.to_dict(), allow_nan=False)


def chained(count: int) -> Profile:
    """Return the profile of a source and a chain of two operators, from some readings."""
    job = running_plan({"s": [], "a<br/>+- b<br/>": ["s"]}, "REBALANCE", parallelism=2)
    readings = [
        replace(
            reading,
            operators={
                "b": Counters(records_in=20.0 * i, records_out=0),
                "a": Counters(records_in=40.0 * i, records_out=20.0 * i),
            },
        )
        for i, reading in enumerate(
            recorded(
                {
                    "s": Counters(0, 40, 0, 400, 1, 9, 0),
                    "a<br/>+- b<br/>": Counters(40, 0, 400, 0, 10, 9, 0),
                },
                count,
            )
        )
    ]
    return fit(job, readings, MIPS)


def test_a_chain_is_measured_as_a_whole() -> None:
    found = chained(9)
    assert stream(found, "a", "b").selectivity.value == pytest.approx(0.5)
    assert operator(found, "b").rate.value == pytest.approx(20)
    assert operator(found, "a").instructions.value == pytest.approx(10e-3 / 40 * MIPS * 1e6)
    assert (operator(found, "b").instructions.how, operator(found, "b").instructions.value) == (
        "chained",
        0.0,
    )
    assert stream(found, "a", "b").payload_bytes.how == "chained"
    (note,) = chain_notes(found)
    assert note.startswith("1 chain measured as a whole ('a -> b'): the first operator has")
    graph = to_instances(found.logical)
    assert not graph.unknown
    assert {*graph.constraints.colocate} == {("a[0]", "b[0]"), ("a[1]", "b[1]")}
    problem = Problem(graph, Cluster([Device("x", MIPS, 2), Device("y", MIPS, 2)]))
    on_two = Placement.of(problem, {"s": "x", "a[0]": "x", "b[0]": "x", "a[1]": "y", "b[1]": "y"})
    score = throughput_evaluator(problem).score(on_two.devices)
    busy = sum(2 * device.utilisation for device in score.devices)
    assert busy == pytest.approx((10 + 1) * 1e-3)  # seconds/s: as Flink measured the two vertices


def test_a_chain_without_readings_keeps_its_operators_free() -> None:
    found = chained(1)
    assert chain_notes(found) == []
    assert found.logical.graph.constraints.colocate == ()
    assert "increase --seconds" in operator(found, "b").instructions.why
