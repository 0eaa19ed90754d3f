"""Groups that a policy places, and the refinement of placements."""

import numpy as np
import pytest
from hypothesis import given, settings

from streamplace import Cluster, Constraints, Network, Placement, Problem
from streamplace.errors import UsageError
from streamplace.placers.registry import make_placer
from streamplace.policy.coarse import Coarsening
from streamplace.policy.placer import LoadedPolicy
from streamplace.problem.network import NetworkKind
from streamplace.scoring.quality import qualities
from tests.support.graphs import preset_graph
from tests.support.placements import some_placement_is_feasible, throughput_of
from tests.support.placers import seeded_rng
from tests.support.rnn import giph_problem, rnn
from tests.support.strategies import constrained_problems


def large_problem(
    operators: int = 400,
    kind: NetworkKind = "pair",
    constraints: Constraints | None = None,
    seed: int = 3,
) -> Problem:
    cluster = Cluster(Cluster.equal(4).devices, Network(kind))
    graph = preset_graph("series-parallel", operators, seed)
    return Problem(graph, cluster, source_rate=1e4, constraints=constraints)


def test_parts_become_smaller_and_no_group_is_too_large() -> None:
    parts = Coarsening(large_problem()).parts(150)
    sizes = [len(part.problem.graph.names) for part in parts]
    assert sizes == sorted(sizes, reverse=True)
    assert 12 <= sizes[-1] < sizes[0] <= 150
    assert len(sizes) > 1


def test_the_coarsest_part_is_used_where_all_are_too_large() -> None:
    (part,) = Coarsening(large_problem()).parts(5)
    assert len(part.problem.graph.names) > 5


def test_devices_of_groups_are_those_of_their_operators() -> None:
    problem = large_problem()
    part = Coarsening(problem).parts(150)[0]
    assert part.grouping is not None
    rows = np.random.default_rng(0).integers(4, size=(3, part.grouping.count)).astype(np.int32)
    expanded = part.expanded(rows)
    assert expanded.shape == (3, 400)
    for row, whole in zip(rows, expanded, strict=True):
        assert (whole == part.grouping.expand(row)).all()


@pytest.mark.parametrize("kind", ["pair", "nic"])
@pytest.mark.parametrize("changes", [1, 20])
def test_refinement_never_lowers_the_quality(kind: NetworkKind, changes: int) -> None:
    problem, rng = large_problem(kind=kind), seeded_rng()
    coarsening = Coarsening(problem)
    part = coarsening.parts(150)[-1]
    assert part.grouping is not None
    of_groups = rng.integers(4, size=(1, part.grouping.count)).astype(np.int32)
    of_operators = rng.integers(4, size=(1, 400)).astype(np.int32)
    for row in (part.expanded(of_groups)[0], of_operators[0]):
        start = Placement(problem, row)
        before, after = qualities(problem, [start, coarsening.refined(start, rng, changes)])
        assert after > before


def test_large_graphs_are_placed_by_groups() -> None:
    """One pass over the operators cuts heavy streams, which groups keep together."""
    names = "policy:coarsen=0:refine=0", "policy:refine=0", "policy"
    reached = np.zeros(len(names))
    for seed in range(6):
        problem = large_problem(600, seed=seed)
        reached += [
            throughput_of(problem, make_placer(name)(problem, seeded_rng()).devices)
            for name in names
        ]
    by_operators, by_groups, refined = reached / 6e4
    assert by_operators + 0.04 < by_groups
    assert by_groups < refined


def test_small_graphs_without_refinement_are_placed_by_the_network_alone() -> None:
    problem = Problem(preset_graph("layered", 60), "5x2500", source_rate=1e4)
    plain, alone = (
        make_placer(name)(problem, seeded_rng()).devices.tolist()
        for name in ("policy:coarsen=0:refine=0", "policy:refine=0")
    )
    assert plain == alone


@settings(max_examples=30)
@given(constrained_problems())
def test_constraints_are_respected(problem: Problem | None) -> None:
    """Groups of operators are placed from the first sample, whatever the size of the graph."""
    if problem is None or not some_placement_is_feasible(problem):
        return
    placer = make_placer("policy:coarsen=1:samples=4")
    devices = placer(problem, seeded_rng()).devices
    assert problem.feasibility.violation(devices) is None


def test_constraints_of_large_graphs() -> None:
    names = large_problem().graph.names
    rules = Constraints(
        pins={names[5]: "d3", names[300]: "d0"},
        colocate=[[names[10], names[200]]],
        exlocate=[[names[20], names[21]], [names[250], names[260]]],
        allowed={name: ["d1", "d2"] for name in names[100:140]},
    )
    problem = large_problem(constraints=rules)
    for name in ("policy", "policy:refine=0", "policy:samples=4"):
        devices = make_placer(name)(problem, seeded_rng()).devices
        assert problem.feasibility.violation(devices) is None


@pytest.mark.parametrize("option", ["coarsen", "refine"])
def test_negative_numbers_are_refused(option: str) -> None:
    with pytest.raises(UsageError, match=f"{option} must be 0 to "):
        make_placer(f"policy:{option}=-1")


@pytest.mark.parametrize("option", ["coarsen", "refine"])
def test_groups_and_refinement_are_refused_under_makespans(
    option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = LoadedPolicy("", rnn(), "rnn", {})
    monkeypatch.setattr("streamplace.policy.placer.loaded", lambda file: made)
    with pytest.raises(UsageError, match=f"{option}: the makespan objective has neither"):
        make_placer(f"policy:{option}=9")(giph_problem(0), seeded_rng())
