"""The placer `hsdag`: its evaluations, repeatability, options and errors, and what it learns."""

import numpy as np
import pytest
import torch

import streamplace as sp
from streamplace.errors import UnsuitableError
from streamplace.learning.policy.weights import new_policy
from streamplace.learning.training import fit, read_config
from streamplace.papers.hsdag.placer import HsdagPlacer
from streamplace.papers.hsdag.sizes import MAX_TYPES
from streamplace.placers.trivial import Random, Single
from streamplace.scoring.registry import evaluator
from streamplace.testing.evaluations import counted_evaluations
from tests.support.graphs import chain_graph
from tests.support.hsdag import pass_problem, stream_problem
from tests.support.placers import seeded_rng

SHORT = HsdagPlacer(episodes=2, steps=3, samples=2)
PROBLEMS = {"makespan": pass_problem, "throughput": stream_problem}
BOTH = pytest.mark.parametrize("objective", PROBLEMS)


def loss_of(placement: sp.Placement) -> float:
    return float(evaluator(placement.problem).loss(placement.devices)[0])


@BOTH
def test_evaluations_are_those_of_episodes_and_their_starts(objective: str) -> None:
    problem = PROBLEMS[objective]()
    SHORT(problem, seeded_rng())  # the first run in a process also scores a small graph
    with counted_evaluations() as of_start:
        Single()(problem, seeded_rng())
    with counted_evaluations() as count:
        SHORT(problem, seeded_rng())
    assert count.placements == 2 * 2 * (3 + 1) + 2 * of_start.placements


@BOTH
def test_the_answer_is_not_worse_than_one_device_and_seeds_repeat(objective: str) -> None:
    problem = PROBLEMS[objective]()
    found = SHORT(problem, np.random.default_rng(1))
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    again = SHORT(problem, np.random.default_rng(1))
    assert found.devices.tolist() == again.devices.tolist()
    assert torch.equal(torch.random.get_rng_state(), before)
    assert loss_of(found) <= loss_of(Single()(problem, seeded_rng())) * (1 + 1e-9)


def test_operators_that_fit_on_no_single_device_are_placed() -> None:
    graph = chain_graph(1e5, 2e5, 3e5)
    apart = sp.Constraints(exlocate=[list(graph.names[:2])])
    problem = sp.Problem(graph, sp.Cluster.equal(2), source_rate=1e3, constraints=apart)
    placed = SHORT(problem, seeded_rng())
    assert problem.feasibility.violation(placed.devices) is None


def test_sizes_are_those_of_the_problem() -> None:
    operators = [
        sp.Operator(n, 1e6, 10.0, type=t) for n, t in zip("abc", ["x", "", "w"], strict=True)
    ]
    graph = sp.StreamGraph(operators, [sp.Stream("a", "b"), sp.Stream("a", "c")])
    problem = sp.Problem(graph, sp.Cluster.equal(4), objective=sp.Makespan())
    sizes = HsdagPlacer(steps=7, levels=2).section(problem).sizes.model_dump()
    assert (sizes["types"], sizes["devices"]) == (["w", "x"], 4)
    assert (sizes["steps"], sizes["levels"], sizes["capacity"]) == (7, 2, False)
    assert HsdagPlacer().section(stream_problem()).sizes.model_dump()["capacity"]


def test_many_types_are_refused_only_where_they_are_read() -> None:
    names = [f"o{v}" for v in range(MAX_TYPES + 1)]
    graph = sp.StreamGraph([sp.Operator(name, 1e6, 10.0, type=name) for name in names], [])
    stream = sp.Problem(graph, sp.Cluster.equal(2), source_rate=1e3)
    assert HsdagPlacer().section(stream).sizes.model_dump()["types"] == []
    makespan = sp.Problem(graph, sp.Cluster.equal(2), objective=sp.Makespan())
    with pytest.raises(UnsuitableError, match=r"up to 1,024 types .* \(the graph has 1,025\)"):
        HsdagPlacer().section(makespan)


@pytest.mark.parametrize("config", ["hsdag", "hsdag-stream"])
def test_defaults_are_those_of_the_configs(config: str) -> None:
    problem = pass_problem() if config == "hsdag" else stream_problem()
    assert HsdagPlacer().stage(problem) == read_config(config).stage[0]
    assert HsdagPlacer(samples=1).stage(problem).baseline == "episodes"
    assert 2000 < HsdagPlacer().evaluations(problem) < 2200


@pytest.mark.long
def test_it_learns_to_leave_the_slow_device_alone() -> None:
    """Ten operators of which the second device runs none well: random placements are far worse."""
    graph = sp.StreamGraph(
        [sp.Operator(f"o{v}", 1e6 * (1 + v % 3), 10.0) for v in range(10)],
        [sp.Stream(f"o{v // 3}", f"o{v}") for v in range(1, 10)],
    )
    cluster = sp.Cluster([sp.Device("fast", 4000.0), sp.Device("slow", 40.0)], sp.Network("pair"))
    problem = sp.Problem(graph, cluster, objective=sp.Makespan())
    placer = HsdagPlacer(episodes=30, steps=5)
    records: list[float] = []
    policy = new_policy(placer.section(problem), 0)
    fit(
        policy,
        [problem],
        [placer.stage(problem)],
        seeded_rng(),
        on_step=lambda record: records.append(float(record["reward"])),
    )
    start = -np.log(loss_of(Single()(problem, seeded_rng())))
    drawn = -np.log(loss_of(Random()(problem, seeded_rng())))
    assert np.mean(records[-5:]) > start - 0.05
    assert np.mean(records[:2]) < (start + drawn) / 2


def test_episodes_begin_from_the_placement_of_a_placer() -> None:
    problem = pass_problem()
    placer = HsdagPlacer(episodes=1, steps=1, samples=1, start="random")
    assert (SHORT.begins_from, placer.begins_from) == ("one device", "random")
    begun = SHORT.begun(problem, seeded_rng())
    assert begun.devices.tolist() == Single()(problem, seeded_rng()).devices.tolist()
    drawn = placer.begun(problem, seeded_rng())  # one like those that training draws
    assert drawn.devices.tolist() == Random()(problem, seeded_rng()).devices.tolist()
    placer(problem, seeded_rng())
