"""Makespans of problems: conversion to tasks, orders, noise, scores and traces."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import streamplace as sp
from benchmarks.reference.schedule_placements import placement_of
from benchmarks.reference.schedule_problems import schedule_problem
from streamplace.errors import GraphError, ProblemError
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.makespan.score import MakespanScore
from streamplace.problem.makespan import CHOICES
from streamplace.scoring.compiled import digest
from streamplace.scoring.evaluator import ScheduleTrace
from streamplace.scoring.registry import evaluator
from tests.support.makespan_problems import makespan_score
from tests.support.released_data import SHARED
from tests.support.schedule_cases import schedule_form
from tests.support.schedule_placements import public_engine

GOLDEN = SHARED / "makespan" / "golden.jsonl"
OPERATORS = [("a", 1e6, 1e6), ("b", 2e6, 1e6), ("c", 3e6, 1e6), ("d", 1e6, 0)]
STREAMS = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
NETWORK = sp.Network("free", bandwidth_mbps=8, latency_s=0.5)
CLUSTER = sp.Cluster([sp.Device("x", 1), sp.Device("y", 2)], NETWORK)


def diamond(**options: Any) -> sp.StreamGraph:
    return sp.StreamGraph(OPERATORS, STREAMS, **{"firing": "all", **options})


def scored(devices: list[int], graph: sp.StreamGraph | None = None, **aim: Any) -> MakespanScore:
    problem = sp.Problem(graph or diamond(), CLUSTER, objective=sp.Makespan(**aim))
    return MakespanEvaluator(problem).score(np.array(devices))


def test_golden_cases() -> None:
    if not GOLDEN.exists():
        pytest.skip("the golden cases are not in ../shared")
    for line in GOLDEN.read_text().splitlines():
        case = json.loads(line)
        start, finish = public_engine(
            *(case[name] for name in ("graph", "cluster", "settings", "placement"))
        )
        assert start == case["expected"]["start_s"], case["name"]
        assert finish == case["expected"]["finish_s"], case["name"]


def test_schedule_of_a_diamond() -> None:
    """On x, a takes 1 s; its message takes 1 s and .5 s of latency; c takes 1.5 s on y."""
    score = scored([0, 0, 1, 0])
    assert score.makespan_s == 1 + 1.5 + 1.5 + 1.5 + 1
    assert [row["start_s"] for row in score.schedule] == [0, 1, 2.5, 5.5]
    assert score.critical_path == ("a", "c", "d")
    assert score.transfers == [
        {"operator": "a", "from": "x", "to": "y", "start_s": 1.0, "arrival_s": 2.5},
        {"operator": "c", "from": "y", "to": "x", "start_s": 4.0, "arrival_s": 5.5},
    ]
    assert score.slr == 6.5 / (0.5 + 1.5 + 0.5)
    assert score.slr_shortest == 6.5 / (0.5 + 1 + 0.5)
    assert [device.utilisation for device in score.devices] == [4 / 6.5, 1.5 / 6.5]
    assert score.links == ()


def test_bound_and_gap() -> None:
    alone = scored([1, 1, 1, 1])
    assert alone.makespan_s == 3.5
    assert alone.bound_s is not None
    assert alone.gap == pytest.approx(1 - alone.bound_s / 3.5)
    assert alone.quality == pytest.approx(alone.bound_s / 3.5)


@pytest.mark.parametrize("kind", ["pair", "egress", "nic"])
def test_busy_shares_of_channels(kind: Any) -> None:
    network = sp.Network(kind, bandwidth_mbps=8, latency_s=0, gap_s=0.25)
    cluster = sp.Cluster(CLUSTER.devices, network)
    problem = sp.Problem(diamond(), cluster, objective=sp.Makespan())
    score = MakespanEvaluator(problem).score(np.array([0, 1, 1, 0]))
    busy = {link.name: link.utilisation * score.makespan_s for link in score.links}
    to, back = ("x->y", "y->x") if kind == "pair" else ("x->", "y->")
    assert busy == pytest.approx({to: 2.5, back: 2.5})


def test_one_message_for_all_has_one_share_of_the_channel() -> None:
    cluster = sp.Cluster(CLUSTER.devices, replace(NETWORK, kind="egress"))
    problem = sp.Problem(diamond(multicast="all"), cluster, objective=sp.Makespan())
    score = MakespanEvaluator(problem).score(np.array([0, 1, 1, 1]))
    assert [link.utilisation * score.makespan_s for link in score.links] == [1.0]


def test_batches_and_selectivities() -> None:
    graph = sp.StreamGraph(OPERATORS[:2], [("a", "b", 0.5)])
    assert scored([0, 0], graph).makespan_s == 1 + 0.5 * 2
    assert scored([0, 0], graph, batch=8).makespan_s == 8 * 2
    every = sp.StreamGraph(OPERATORS[:2], [("a", "b", 0.5)], firing="all")
    assert scored([0, 0], every, batch=8).makespan_s == 8 * 3


def test_any_order_is_the_best_of_three() -> None:
    chosen = set()
    for seed in range(60):
        form = schedule_problem(seed, large=True)
        placement = placement_of(*(form[n] for n in ("graph", "cluster", "settings", "placement")))
        aim = replace(placement.problem.makespan_objective, order="any")
        seconds = {}
        for order in CHOICES:
            problem = placement.problem.with_objective(replace(aim, order=order))
            seconds[order] = evaluator(problem).loss(placement.devices)[0]
        best = MakespanEvaluator(placement.problem.with_objective(aim))
        score = best.score(placement.devices)
        assert score.makespan_s == min(seconds.values()) == best.loss(placement.devices)[0]
        assert seconds[score.order] == score.makespan_s
        chosen.add(score.order)
    assert len(chosen) > 1


def test_noise_is_reproducible_and_within_its_range() -> None:
    score = scored([0, 0, 1, 0], noise=0.2, repeats=50, seed=3)
    again = scored([0, 0, 1, 0], noise=0.2, repeats=50, seed=3)
    assert "figures below are those of the first pass" in str(score._view().body)
    assert "first pass" not in str(scored([0, 0, 1, 0])._view().body)
    other = scored([0, 0, 1, 0], noise=0.2, repeats=50, seed=4)
    assert score.makespan_s == again.makespan_s != other.makespan_s
    assert abs(score.makespan_s - 6.5) < 0.3
    assert score.deviation_s is not None
    assert 0 < score.deviation_s < 1.3
    assert score.bound_s is score.gap is None
    document = score.to_dict()
    assert (document["bound_s"], document["gap"]) == (None, None)
    assert document["standard_deviation_s"] == score.deviation_s


def test_repeats_are_passes() -> None:
    problem = sp.Problem(
        diamond(), CLUSTER, objective=sp.Makespan(noise=0.1, repeats=5, order="any")
    )
    assert MakespanEvaluator(problem).passes == 15
    assert evaluator(problem).best_possible is None


def test_quality_loss_and_trace() -> None:
    problem = sp.Problem(diamond(), CLUSTER, objective=sp.Makespan())
    rows = np.array([[0, 0, 1, 0], [1, 1, 1, 1], [0, 1, 0, 1]])
    judge = evaluator(problem)
    scores = [judge.score(row) for row in rows]
    assert judge.loss(rows).tolist() == [score.value for score in scores]
    quick = judge.quality(rows)  # by the quick bound, which is not above the printed one
    assert all(0.0 < one <= score.quality for one, score in zip(quick, scores, strict=True))
    trace = judge.trace(rows)
    assert isinstance(trace, ScheduleTrace)
    assert trace.finish_s.max(axis=1).tolist() == judge.loss(rows).tolist()
    assert trace.device_loads.shape == (3, 2)
    assert judge.local_search() is None
    assert judge.best_possible == 1.0


def test_nothing_to_do() -> None:
    idle = sp.StreamGraph([("a", 0, 0), ("b", 0, 0)], [("a", "b")], firing="all")
    score = scored([0, 0], idle)
    assert (score.makespan_s, score.slr, score.quality, score.gap) == (0, 1, 1, 0)
    problem = sp.Problem(idle, CLUSTER, objective=sp.Makespan())
    assert evaluator(problem).quality(np.array([0, 0])).tolist() == [1.0]


def test_loads_that_overflow_are_refused() -> None:
    graph = sp.StreamGraph([("a", 1e100, 0)], firing="all")
    with pytest.raises(GraphError, match="the load of 'a' overflows"):
        scored([0], graph, batch=10**12)


def test_uplinks_are_refused() -> None:
    devices = [sp.Device("x", 1, group="r1"), sp.Device("y", 1, group="r2")]
    shared = sp.Network("pair", uplinks=(sp.Uplink("r1", up_mbps=10),))
    limited = sp.Cluster(devices, shared)
    with pytest.raises(ProblemError, match=r"network.uplinks\['r1'\] of the cluster: makespans"):
        sp.Problem(diamond(), limited, objective=sp.Makespan())
    with pytest.raises(ProblemError, match="uplinks"):
        sp.Problem(diamond(source_rate=1), limited).with_objective(sp.Makespan())


def test_a_changed_problem_has_another_digest() -> None:
    one = sp.Problem(diamond(), CLUSTER, objective=sp.Makespan())
    other = sp.Problem(diamond(), CLUSTER, objective=sp.Makespan(batch=2))
    assert digest(one) != digest(other)
    before = digest(one)
    one.forget()
    assert digest(one) == before


def test_an_operator_on_a_device_that_cannot_run_it_has_no_schedule() -> None:
    devices = [sp.Device("x", 1, kind="cpu"), sp.Device("y", 1, kind="gpu")]
    graph = sp.StreamGraph([sp.Operator("a", 1e6, 0, seconds_on={"gpu": None})], firing="all")
    problem = sp.Problem(graph, sp.Cluster(devices), objective=sp.Makespan())
    message = "^operator 'a' is on device 'y', but it cannot run on devices of kind 'gpu'"
    with pytest.raises(ProblemError, match=message):
        evaluator(problem).score(np.array([1]))
    assert evaluator(problem).loss(np.array([1])).tolist() == [np.inf]


def test_an_infinite_length_ratio_is_null_in_json() -> None:
    """Only a message takes time, so that the longest path without messages has no length."""
    form = schedule_form("a:0 b:0@1", "a>b:2")
    score = makespan_score(placement_of(**form))
    assert score.makespan_s == 2.0
    assert score.slr == float("inf")
    assert (score.to_dict()["slr"], score.summary()["slr_shortest"]) == (None, None)
    json.dumps(score.to_dict(), allow_nan=False)
