"""Tests for placing anew after changes, and for trainings' curves."""

import pytest
import torch

from streamplace.learning.policy.base import Refiner
from streamplace.learning.policy.weights import new_policy
from streamplace.papers.giph.study.adaptivity import (
    PROTOCOLS,
    RNN,
    LearningCurve,
    by_plain_placers,
    by_policy,
    placed_anew,
)
from streamplace.papers.giph.study.adaptivity_tables import (
    makespans_of,
)
from streamplace.papers.giph.study.registered import PLACETO, SYSTEMS, Cases
from streamplace.papers.giph.study.study import RETRAINED_GRAPHS, GiphStudy
from streamplace.papers.giph.study.systems import HEFT, RANDOM, random_starts, trained
from streamplace.papers.studies.study import Row
from streamplace.problem.makespan import Makespan

CASES = Cases("giph-code:cases=several:split=test", 3)


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
    policy = Refiner.of(new_policy(SYSTEMS[PLACETO], 0))
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
