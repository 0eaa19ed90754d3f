"""Clusters in which every device keeps its place."""

import numpy as np
import pytest

import streamplace as sp
from streamplace.learning.policy.base import Refiner
from streamplace.learning.policy.registry import policy_section
from streamplace.learning.policy.weights import new_policy
from streamplace.papers.giph.families.changes import Adaptivity
from streamplace.papers.giph.study.places import episodes_in_place, in_place, places_of
from streamplace.papers.giph.study.registered import Cases, fusion_cases
from streamplace.papers.giph.study.systems import random_starts
from streamplace.placers.running import run_placer
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.scoring.registry import evaluator

CASES = Cases("giph-code:cases=several:split=test", 3)


def test_absent_devices_keep_their_place_and_change_no_makespan() -> None:
    changing = Adaptivity("links", changes=4)
    graph = changing.graph(0)
    for cluster in list(changing.clusters())[1:]:
        problem = sp.Problem(graph, cluster, objective=Makespan())
        placed = in_place(problem, changing.first.devices)
        names = [device.name for device in placed.cluster.devices]
        assert names == [device.name for device in changing.first.devices]
        absent = {*names} - {device.name for device in cluster.devices}
        assert {name for name in names if not placed.cluster.devices[names.index(name)].labels} == (
            absent
        )
        found = run_placer(placed, "heft", np.random.default_rng(0), None).placement
        assert not absent & {*found.assignment.values()}
        own = Placement(problem, [cluster.index[name] for name in found.assignment.values()])
        losses = [evaluator(p.problem).loss(p.devices)[0] for p in (found, own)]
        assert losses[0] == losses[1]


def test_a_problem_whose_devices_are_in_place_stays_as_it_is() -> None:
    problems = CASES.problems(Makespan())
    places = places_of(problems)
    assert [in_place(problem, places) is problem for problem in problems] == [True] * 3


def test_snapshots_get_as_many_places_as_the_largest_one_has_devices() -> None:
    problems = fusion_cases(4).problems(Makespan())
    places = places_of(problems)
    counts = [len(problem.cluster.devices) for problem in problems]
    assert len({*counts}) > 1
    assert len(places) == max(counts)
    section = policy_section({"kind": "placeto", "sizes": {"devices": len(places)}})
    policy, starts = Refiner.of(new_policy(section, 0)), random_starts(problems, 0)
    found = episodes_in_place(policy, problems, starts, places, 1.0, 0)
    for problem, start, one in zip(problems, starts, found, strict=True):
        assert evaluator(problem).loss(start)[0] == pytest.approx(one.lowest[0])
        assert evaluator(problem).loss(one.best)[0] == pytest.approx(one.lowest[-1])
