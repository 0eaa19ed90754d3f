"""Tests for placing anew after changes, for trainings' curves and for devices that keep places."""

from pathlib import Path

import numpy as np
import pytest
import torch

import streamplace as sp
from streamplace.papers.giph.families.changes import Adaptivity
from streamplace.papers.giph.study.adaptivity import (
    CHECKPOINTS,
    PROTOCOLS,
    RNN,
    LearningCurve,
    by_plain_placers,
    by_policy,
    placed_anew,
)
from streamplace.papers.giph.study.adaptivity_tables import (
    adaptivity_findings,
    adaptivity_table,
    curves_picture,
    learning_of,
    learning_panels,
    learning_table,
    makespans_of,
    panels_of,
)
from streamplace.papers.giph.study.places import episodes_in_place, in_place, places_of
from streamplace.papers.giph.study.registered import GIPH, PLACETO, SYSTEMS, Cases, fusion_cases
from streamplace.papers.giph.study.study import RETRAINED_GRAPHS, GiphStudy
from streamplace.papers.giph.study.systems import HEFT, RANDOM, random_starts, trained
from streamplace.papers.studies.study import Row
from streamplace.placers.running import run_placer
from streamplace.policy.base import refiner
from streamplace.policy.registry import policy_section
from streamplace.policy.weights import new_policy
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
    policy, starts = refiner(new_policy(section, 0)), random_starts(problems, 0)
    found = episodes_in_place(policy, problems, starts, places, 1.0, 0)
    for problem, start, one in zip(problems, starts, found, strict=True):
        assert evaluator(problem).loss(start)[0] == pytest.approx(one.lowest[0])
        assert evaluator(problem).loss(one.best)[0] == pytest.approx(one.lowest[-1])


def test_testing_a_policy_while_it_is_trained_does_not_change_it() -> None:
    problems = CASES.problems(Makespan(), range(2))
    curve = LearningCurve(PLACETO, problems, random_starts(problems, 0), 0)
    watched = trained(PLACETO, problems, 1, 20, 1, curve)
    alone = trained(PLACETO, problems, 1, 20, 1)
    pairs = zip(watched.parameters(), alone.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
    assert [row["episodes"] for row in curve.rows] == [0, 40]
    assert all(len(row["over_heft"]) == 2 for row in curve.rows)


def _rows() -> list[Row]:
    policy = refiner(new_policy(SYSTEMS[PLACETO], 0))
    places = (by_plain_placers(0), by_policy(PLACETO, policy, 0))
    return [row for place in places for row in placed_anew(place, range(2), 4, 0)]


def test_systems_start_anew_on_every_cluster_of_every_protocol() -> None:
    rows = _rows()
    assert len(rows) == 3 * len(PROTOCOLS) * 2 * 5
    found = makespans_of(rows)
    assert {*found} == {*PROTOCOLS}
    for systems in found.values():
        assert {*systems} == {RANDOM, HEFT, PLACETO}
        assert (systems[HEFT][0] == 1.0).all()
        assert all((slr >= 1.0).all() for _, slr in systems.values())
    links, paper = (found[name][RANDOM][1] for name in ("links", "paper"))
    assert (links[:, :4] == paper[:, :4]).all()  # no device has come back yet


def test_tables_and_pictures_show_the_rows_that_exist(tmp_path: Path) -> None:
    assert not [*adaptivity_table({}), *adaptivity_findings({}), *learning_table({})]
    rows = [
        {
            "changing": "code",
            "repeat": 0,
            "graph": graph,
            "change": change,
            "system": system,
            "makespan_s": level * (1 + change),
            "longest_s": 1.0,
        }
        for system, level, graphs in ((HEFT, 2.0, 3), (RNN, 3.0, 2))
        for graph in range(graphs)
        for change in range(5)
    ]
    found = makespans_of(rows)
    (table,) = adaptivity_table(found)
    assert [(name, *cells[:3]) for name, cells in table.rows] == [
        (HEFT, "code", 3, 1.0),
        (RNN, "code", 2, 1.5),
    ]
    assert table.rows[0][1][4:] == (4.0, 6.0, 8.0, 10.0)
    assert "RNN placer 1.500" in next(adaptivity_findings(found))
    heft = [row for row in rows if row["system"] == HEFT]
    more = [{**row, "system": RANDOM} for row in heft]
    alone = [{**row, "repeat": 1, "makespan_s": 9.0} for row in heft]  # a network that is not done
    (same,) = adaptivity_table(makespans_of([*rows, *more, *alone]))
    assert dict(same.rows)[HEFT] == dict(table.rows)[HEFT]
    learned = learning_of(
        [
            {"learning": "several", "system": GIPH, "repeat": seed, "episodes": n, "over_heft": [v]}
            for n, v in ((0, 1.5), (40, 1.1))
            for seed in range(2)
        ]
    )
    (curve,) = learning_table(learned)
    assert curve.rows == [(GIPH, [1.5, 1.1, *[None] * (len(CHECKPOINTS) - 2)])]
    for name, panels in (("a", panels_of(found)), ("b", learning_panels(learned))):
        curves_picture(tmp_path / f"{name}.svg", panels, ("x", "y"))


@pytest.mark.long
@pytest.mark.parametrize(
    "key",
    ["GiPH-task-EFT: anew after changes", f"{RNN}: anew", f"{RNN}: sensor", "Placeto: sensor"],
)
def test_new_units_run(key: str) -> None:
    study = GiphStudy(quick=True)
    unit = next(one for one in study.plan().units if one.key.startswith(key))
    rows = study.run(unit)
    assert all(row["repeat"] == 0 for row in rows)


def test_the_rnn_placer_is_trained_on_as_many_graphs_as_in_the_released_code() -> None:
    keys = [unit.key for unit in GiphStudy().plan().units]
    own = [key for key in keys if key.startswith(f"{RNN}: anew")]
    assert len(own) == RETRAINED_GRAPHS == 10
