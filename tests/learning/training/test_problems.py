"""Training problems made from graphs, and the steps of an epoch."""

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from streamplace import Cluster, Makespan, Operator, Problem, StreamGraph, Throughput
from streamplace.errors import ObjectiveError, StreamplaceError
from streamplace.families import Recipe
from streamplace.learning.policy.registry import KINDS, kinds_for, make_policy, policy_section
from streamplace.learning.training.config import ProblemsSection
from streamplace.learning.training.problems import (
    encoded_by,
    hash_of,
    largest_first,
    make_problems,
    steps_of,
)
from streamplace.learning.training.rewards import Rewards
from streamplace.papers.ni2020.features import NiProblem, encoded, utilisations
from streamplace.problem.objectives import OBJECTIVES
from streamplace.scoring.evaluator import Placements
from streamplace.scoring.objective_evaluator import ObjectiveEvaluator
from streamplace.util.arrays import Floats

COUNT = 40


@cache
def graphs() -> list[StreamGraph]:
    """Return graphs of 4 to 9 operators."""
    recipe = Recipe("layered", COUNT, range(4, 10), seed=3)
    return [recipe.graph(i) for i in range(COUNT)]


def problems_of(*groups: dict[str, object], seed: int = 0) -> list[Problem]:
    """Return the problems of groups."""
    return make_problems(graphs(), [ProblemsSection.model_validate(g) for g in groups], seed)


def identities(problems: list[Problem]) -> list[tuple[str, Cluster, float, str]]:
    """Return the properties that distinguish problems."""
    return [(p.graph.name, p.cluster, p.source_rate, p.model) for p in problems]


def test_by_default_every_graph_is_a_problem_at_its_own_rate() -> None:
    expected = [(g.name, Cluster.parse("5x2500"), g.source_rate, "bottleneck") for g in graphs()]
    assert identities(problems_of({})) == expected


def test_graphs_keep_the_clusters_of_their_own() -> None:
    clusters = [Cluster.parse(f"{2 + i % 3}x{1000 + i}") for i in range(COUNT)]
    section = ProblemsSection.model_validate({"operators": [5, 6], "devices": ["9x1"]})
    found = make_problems(graphs(), [section], 0, clusters)
    expected = [c for g, c in zip(graphs(), clusters, strict=True) if 5 <= len(g.names) <= 6]
    assert [one.cluster for one in found] == expected


def test_groups_select_graphs_by_their_operators() -> None:
    found = problems_of({"operators": [5, 6]}, {"operators": [9, 100]})
    sizes = [len(g.names) for g in graphs()]
    expected = [n for n in sizes if 5 <= n <= 6] + [n for n in sizes if n >= 9]
    assert [len(one.graph.names) for one in found] == expected
    assert len(set(expected)) == 3


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_a_share_of_the_graphs_is_drawn(share: float) -> None:
    counts = [len(problems_of({"share": share}, seed=seed)) for seed in range(12)]
    assert abs(np.mean(counts) / COUNT - share) < 0.08  # 4 standard deviations


def test_every_graph_at_each_rate_on_one_cluster() -> None:
    found = problems_of({"source_rates": [1e4, 3e4, 7.0], "devices": ["2x2500", "3x1000", "4x500"]})
    assert len(found) == 3 * COUNT
    for i, graph in enumerate(graphs()):
        same = found[3 * i : 3 * i + 3]
        assert [problem.source_rate for problem in same] == [1e4, 3e4, 7.0]
        assert {problem.graph for problem in same} == {graph}
        assert len({problem.cluster for problem in same}) == 1


def test_clusters_are_drawn_from_all_combinations() -> None:
    devices = ["2x2500", "1x4000,2x1500"]
    found = problems_of(
        {"devices": devices, "networks": ["pair", "egress"], "bandwidth_mbps": [3.0, 1e4]}
    )
    clusters = [one.cluster for one in found]
    drawn = {(c.devices, c.network.kind, c.network.bandwidth_mbps) for c in clusters}
    expected = {
        (Cluster.parse(text).devices, kind, bandwidth)
        for text in devices
        for kind in ("pair", "egress")
        for bandwidth in (3.0, 1e4)
    }
    assert drawn == expected


def test_groups_set_the_model_of_their_problems() -> None:
    found = problems_of({"model": "path-average"}, {})
    assert [one.model for one in found] == ["path-average"] * COUNT + ["bottleneck"] * COUNT


def test_the_same_seed_makes_the_same_problems() -> None:
    group = {"share": 0.5, "devices": ["2x2500", "3x2500", "4x2500"], "networks": ["pair", "nic"]}
    assert identities(problems_of(group, seed=4)) == identities(problems_of(group, seed=4))
    assert identities(problems_of(group, seed=4)) != identities(problems_of(group, seed=5))


def test_a_group_does_not_depend_on_later_groups() -> None:
    group = {"share": 0.5, "devices": ["2x2500", "3x2500"]}
    alone = identities(problems_of(group))
    assert identities(problems_of(group, {"share": 0.3}))[: len(alone)] == alone


def test_invalid_devices_are_refused_even_if_never_drawn() -> None:
    with pytest.raises(ValidationError, match="5xfast"):
        problems_of({"operators": [500, 600], "devices": ["3x2500", "5xfast"]})


def test_a_message_names_the_graph_without_a_source_rate() -> None:
    nameless = StreamGraph([Operator("a", 1.0, 1.0)], [])
    named = StreamGraph([Operator("a", 1.0, 1.0)], [], name="lonely")
    section = ProblemsSection()
    with pytest.raises(StreamplaceError, match="graph 0: source_rate"):
        make_problems([nameless], [section], 0)
    with pytest.raises(StreamplaceError, match="lonely: source_rate"):
        make_problems([named], [section], 0)


@cache
def mixed() -> list[NiProblem]:
    """Return problems of different sizes on different clusters."""
    problems = problems_of({"devices": ["2x2500", "3x2500", "1x4000,2x1500", "7x1000"]})
    return [encoded(problem, utilisations(problem), "by-depth") for problem in problems]


numbers = st.lists(st.integers(0, COUNT - 1), unique=True, max_size=COUNT).map(np.array)
limits = st.tuples(st.integers(1, 9), st.sampled_from([0, 1, 20, 60, 10**6]))


@given(numbers, limits, st.integers(0, 3))
def test_an_epoch_uses_every_problem_once(
    own: np.ndarray, limit: tuple[int, int], seed: int
) -> None:
    problems, scores = limit
    steps = steps_of(mixed(), own.astype(int), problems, scores, [seed])
    assert sorted(int(i) for step in steps for i in step) == sorted(own.tolist())
    for step in steps:
        ones = [mixed()[i] for i in step]
        devices = {len(one.problem.cluster.devices) for one in ones}
        assert len(devices) == 1
        sizes = [one.size for one in ones]
        assert sizes == sorted(sizes, reverse=True)
        assert 1 <= len(ones) <= problems
        cells = sum(sizes) * devices.pop()
        assert len(ones) == 1 or not scores or cells <= scores


@given(numbers, limits)
def test_no_two_steps_of_an_epoch_could_be_joined(own: np.ndarray, limit: tuple[int, int]) -> None:
    """At most one step per number of devices is not full."""
    problems, _ = limit
    steps = steps_of(mixed(), own.astype(int), problems, 0, [1])
    devices = [len(mixed()[step[0]].problem.cluster.devices) for step in steps]
    for count in set(devices):
        lengths = [len(step) for step, d in zip(steps, devices, strict=True) if d == count]
        assert sum(length < problems for length in lengths) <= 1


def test_steps_depend_only_on_seed_and_epoch() -> None:
    own = np.arange(COUNT)

    def steps(*seed: int) -> list[list[int]]:
        return [step.tolist() for step in steps_of(mixed(), own, 4, 0, list(seed))]

    assert steps(0, 1, 5) == steps(0, 1, 5)
    assert steps(0, 1, 5) != steps(0, 1, 6)
    assert steps(0, 1, 5) != steps(1, 1, 5)


def test_steps_of_different_clusters_are_shuffled() -> None:
    """Without shuffling, an epoch would end with the largest clusters."""
    ends = set()
    for epoch in range(12):
        steps = steps_of(mixed(), np.arange(COUNT), 4, 0, [0, 1, epoch])
        ends.add(len(mixed()[steps[-1][0]].problem.cluster.devices))
    assert ends == {2, 3, 7}


def test_problems_are_sorted_largest_first() -> None:
    found = largest_first(mixed(), np.arange(COUNT))
    sizes = [one.size for one in mixed()]
    assert found.tolist() == sorted(range(COUNT), key=lambda i: -sizes[i])


class _FewDevices(ObjectiveEvaluator):
    """Halves the value of a placement on more than one device."""

    def worth(self, problem: Problem, devices: Placements, throughput: Floats) -> Floats:
        several = np.array([len(np.unique(row)) > 1 for row in devices])
        halved: Floats = throughput / (1 + several)
        return halved


@dataclass(frozen=True)
class _OneDevice(Throughput):
    """Throughput, halved on more than one device."""

    evaluator: ClassVar[type] = _FewDevices


def test_training_uses_an_objective_of_an_installed_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rewards follow the objective, and the hash of the problems covers it."""
    monkeypatch.setitem(OBJECTIVES, "one-device", f"{__name__}:_OneDevice")
    classes = dict.fromkeys(OBJECTIVES.values(), Throughput)
    classes[OBJECTIVES["one-device"]] = _OneDevice
    monkeypatch.setattr("streamplace.util.plugins.load_ours", classes.get)
    own, plain = problems_of({"objective": "one-device"}), problems_of({})
    assert {type(problem.objective) for problem in own} == {_OneDevice}
    assert hash_of(own) != hash_of(plain)
    count = len(own[0].graph.names)
    rows = np.stack([np.zeros(count), np.arange(count) % 2]).astype(np.int32)
    halved, full = (Rewards(some, "relative")(0, rows) for some in (own, plain))
    assert halved.tolist() == [full[0], full[1] / 2]


@pytest.mark.parametrize("kind", KINDS)
def test_policies_for_throughput_refuse_makespans_in_one_line(kind: str) -> None:
    policy = make_policy(policy_section({"kind": kind}))
    devices = {"placeto": 3, "rnn": 20}.get(kind, 2)  # networks of a fixed number of devices
    problem = Problem(graphs()[0], f"{devices}x2500", objective=Makespan())
    if kind in kinds_for("makespan"):
        assert len(encoded_by(policy, [problem])) == 1
        return
    fault = f"^policy '{kind}' supports only throughput, not makespan; use .* of the kind rebuild,"
    with pytest.raises(ObjectiveError, match=fault):
        encoded_by(policy, [problem])
