"""Invariants of makespans hold on a share of the problems, and violations are counted."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.hardening.campaigns.invariants.browser_engines import Evaluate, called_in_node
from benchmarks.hardening.campaigns.invariants.deviations import EXACT
from benchmarks.hardening.campaigns.invariants.makespans import (
    page_schedules,
    proven_placements,
    refined_placements,
    rows,
    schedule_rules,
)
from benchmarks.hardening.campaigns.invariants.makespans.numbered_passes import (
    drawn,
    noisy,
    without_ties,
)
from benchmarks.hardening.campaigns.invariants.makespans.plain_comparison import differs_from_plain
from benchmarks.hardening.campaigns.invariants.makespans.score_invariance import (
    BOUNDS_REORDERED,
    CHANGES,
    REORDERED,
    PassChange,
    bounds_differ,
    difference,
)
from streamplace import Cluster, Device, Placement, Problem
from streamplace.scoring.makespan_score import MakespanScore
from streamplace.scoring.registry import makespan_score

PROBLEMS = 60
SLIGHT_ERROR = 1.0 + 1e-8


def test_all_invariants_hold() -> None:
    found = {row.what: row for row in rows.of_makespans(PROBLEMS, 0)}
    assert found.keys() == {
        rows.NO_ERROR, rows.PLAIN, rows.BOUND, rows.INPUTS, rows.MESSAGES, rows.CORES,
        rows.CHANNELS, rows.SAME_PLACEMENT, BOUNDS_REORDERED, REORDERED.what,
        *refined_placements.ROWS,
        proven_placements.BOUND, proven_placements.EXACT_IS_OPTIMAL, proven_placements.PLACED,
        *(change.what for change in CHANGES),
    }  # fmt: skip
    for row in found.values():
        assert row.good, f"{row}: {row.faults}"


def test_problems_have_all_options() -> None:
    placements = [drawn(number, 0)[1] for number in range(PROBLEMS)]
    objectives = [one.problem.makespan_objective for one in placements]
    assert {one.order for one in objectives} == {
        "fifo", "b-level", "topological", "sequence", "any"
    }  # fmt: skip
    networks = {one.problem.cluster.network.kind for one in placements}
    assert networks == {"free", "egress", "pair", "nic"}
    assert {one.problem.graph.multicast for one in placements} == {"none", "device", "all"}
    assert {one.barrier for one in objectives} == {True, False}
    assert any(noisy(one, n).problem.makespan_objective.noise for n, one in enumerate(placements))


def scored(applies: Callable[[MakespanScore], object]) -> MakespanScore:
    """Return the first score of a random placement to which something applies."""
    scores = (makespan_score(drawn(number, 0)[1]) for number in range(200))
    return next(score for score in scores if applies(score))


def changed(device: Device, values: dict[str, Any]) -> Device:
    """Return the device with other values of some fields."""
    return replace(device, **values)


def with_changed_device(placement: Placement, field: str) -> Placement:
    """Return the placement on a cluster in which one number of the devices is slightly larger."""
    problem = placement.problem
    devices = [
        changed(device, {field: (getattr(device, field) or 0.0) * SLIGHT_ERROR})
        for device in problem.cluster.devices
    ]
    cluster = Cluster(devices, problem.cluster.network)
    other = Problem(problem.graph, cluster, objective=problem.objective)
    return Placement(other, placement.devices)


@pytest.mark.parametrize("change", [*CHANGES, REORDERED], ids=lambda change: change.what)
def test_differences_after_a_change_are_noticed(change: PassChange) -> None:
    placement = without_ties(5, 0)
    score, rng = makespan_score(placement), np.random.default_rng(0)
    other = change.change(placement, rng)
    assert difference(score, other, change) <= change.tolerance
    assert difference(score, with_changed_device(other, "mips"), change) > EXACT
    if change is REORDERED:
        faster = with_changed_device(other, "mips")
        assert bounds_differ(score, other) <= EXACT < bounds_differ(score, faster)


def test_a_startup_time_that_is_not_scaled_is_noticed() -> None:
    """The changed problem rests as long as before, although everything else is faster."""
    [change] = [each for each in CHANGES if each.factor != 1.0]
    score = scored(lambda score: any(d.startup_s for d in score.problem.cluster.devices))
    one = Placement(score.problem, score.timetable.devices)
    other = change.change(one, np.random.default_rng(0))
    assert difference(score, other, change) == 0.0
    rests = [replace(d, startup_s=1.0) for d in other.problem.cluster.devices]
    cluster = Cluster(rests, other.problem.cluster.network)
    spoilt = Problem(other.problem.graph, cluster, objective=other.problem.objective)
    assert difference(score, Placement(spoilt, other.devices), change) > EXACT


def test_an_engine_that_differs_from_the_plain_one_is_noticed() -> None:
    for number in (1, 2, 3):
        form, placement = drawn(number, 0)
        score = makespan_score(placement)
        assert differs_from_plain(form, score) == 0.0
        score.timetable.run.start[0] += 1e-6
        assert differs_from_plain(form, score) > EXACT


def test_a_message_at_another_moment_is_noticed() -> None:
    for number in range(1, 50):
        form, placement = drawn(number, 0)
        score = makespan_score(placement)
        if score.deliveries:
            score.timetable.run.arrival[score.deliveries[0]] += 1e-6
            assert differs_from_plain(form, score) > 0.0
            return
    pytest.fail("no messages")


def test_an_operator_that_starts_before_its_input_is_noticed() -> None:
    score = scored(lambda score: len(score.deliveries) > 1)
    assert schedule_rules.late_inputs(score) == 0.0
    tasks, run = score.timetable.tasks, score.timetable.run
    k = score.deliveries[0]
    run.start[tasks.target[k]] = run.arrival[k] - 1e-3
    assert schedule_rules.late_inputs(score) > 0.0


def test_a_message_that_starts_before_its_producer_ends_is_noticed() -> None:
    score = scored(lambda score: score.deliveries and score.makespan_s > 0)
    run, k = score.timetable.run, score.deliveries[0]
    run.begin[run.message[k]] = run.end[score.timetable.tasks.source[k]] - 1e-3
    assert schedule_rules.late_inputs(score) > 0.0


def test_lost_messages_are_noticed() -> None:
    score = scored(lambda score: len(score.deliveries) > 1)
    assert schedule_rules.wrong_messages(score) == 0.0
    run = score.timetable.run
    run.delivery[run.delivery == score.deliveries[0]] = -1
    del score.__dict__["deliveries"]  # it is computed once
    assert schedule_rules.wrong_messages(score) > 0.0
    assert schedule_rules.late_inputs(score) == np.inf


def test_operators_on_the_same_core_are_noticed() -> None:
    def shares(score: MakespanScore) -> bool:
        cores = [device.cores for device in score.problem.cluster.devices]
        table = score.timetable
        busy = [v for v, d in enumerate(table.devices) if cores[d] == 1 and table.run.duration[v]]
        return len(busy) > 1 and len({table.devices[v] for v in busy}) < len(busy)

    score = scored(shares)
    assert schedule_rules.overused_cores(score) == 0.0
    run = score.timetable.run
    run.end[:] = run.duration
    run.start[:] = 0.0
    assert schedule_rules.overused_cores(score) >= 1.0


def test_messages_on_the_same_channel_are_noticed() -> None:
    def sends(score: MakespanScore) -> bool:
        run = score.timetable.run
        lengths = [run.transfer[run.message[k]] > 0 for k in score.deliveries]
        sources = {int(score.timetable.devices[score.timetable.tasks.source[k]])
                   for k in score.deliveries}  # fmt: skip
        kind, multicast = score.problem.cluster.network.kind, score.problem.graph.multicast
        return kind == "egress" and multicast == "none" and sum(lengths) > len(sources)

    score = scored(sends)
    assert schedule_rules.shared_channels(score) == 0.0
    score.timetable.run.begin[:] = 0.0
    assert schedule_rules.shared_channels(score) >= 1.0


def test_errors_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(score: MakespanScore) -> float:
        raise ZeroDivisionError("of a rule")

    monkeypatch.setattr(schedule_rules, "late_inputs", fails)
    found = {row.what: row for row in rows.of_makespans(2, 0)}
    assert found[rows.NO_ERROR].wrong["violations"] == 2
    assert "of a rule" in found[rows.NO_ERROR].faults[0]


def test_a_slightly_wrong_page_is_noticed() -> None:
    with called_in_node(page_schedules.script(), page_schedules.TIMETABLES) as evaluate:
        if evaluate is None:
            pytest.skip("needs Node.js")
        timetables: Evaluate = evaluate

        def wrong(batch: list[Any]) -> list[Any]:
            shown = timetables(batch)
            for schedule in shown[0]:
                if schedule is not None:
                    schedule["start"][0] += 1e-12
            return shown

        assert page_schedules.compared(100, 0, "Node.js", timetables).violations == 0
        assert page_schedules.compared(100, 0, "Node.js", wrong).violations > 50
