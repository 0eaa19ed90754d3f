"""Placing and simulating from Python, and at other source rates."""

from pathlib import Path
from traceback import extract_stack

import pytest
from hypothesis import given, settings

import streamplace as sp
from benchmarks.bounds import link_bound
from benchmarks.reference.strategies import Case, cases
from streamplace.errors import ClusterError, ProblemError, UsageError
from streamplace.families import Recipe
from streamplace.placers.base import BasePlacer
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring import throughput as score
from streamplace.scoring.compiled import compiled
from streamplace.workflows.diff import diff
from streamplace.workflows.result import Result
from tests.support.graphs import two_operator_graph
from tests.support.placements import solve


def test_a_cluster_may_be_text() -> None:
    by_text = sp.place(two_operator_graph(), "2x2000x2,1x500", placer="greedy")
    cluster = sp.Cluster.parse("2x2000x2,1x500")
    assert by_text.placement.problem.cluster == cluster
    assert by_text.score == sp.place(two_operator_graph(), cluster, placer="greedy").score
    with pytest.raises(ClusterError, match="must be COUNTxMIPS"):
        sp.place(two_operator_graph(), "cluster.json")


def test_defaults_come_from_the_graph_and_the_paper() -> None:
    result = sp.place(two_operator_graph(), placer="greedy")
    assert result.score.source_rate == 1e4
    assert result.placement.problem.cluster == sp.Cluster.equal()
    with pytest.raises(ProblemError, match="the graph has no source rate; set it with --source"):
        sp.place(two_operator_graph(None))


def test_at_most_three_calls_lead_to_the_code_of_a_placer() -> None:
    calls: list[str] = []

    class Last(BasePlacer):
        def __call__(self, problem: Problem, rng: object, start: object = None) -> Placement:
            calls.extend(frame.name for frame in extract_stack())
            return Placement(problem, [0, 0])

    sp.place(two_operator_graph(), placer=Last())
    assert calls[calls.index("place") + 1 :] == ["place_problem", "run_placer", "run", "__call__"]


def test_the_last_line_says_how_few_devices_suffice() -> None:
    def last(result: Result) -> str:
        return str(result._view().body[-1])

    graph = two_operator_graph(100.0)
    assert "; 1 machine suffices (--prefer fewest)" in last(solve(Problem(graph, "3x2000")))
    for placer in ("auto:prefer=fewest", "auto:prefer=balance", "greedy"):
        assert "suffice" not in last(solve(Problem(graph, "3x2000"), placer))
    assert "suffice" not in last(solve(Problem(graph, "3x2000"), max_latency="p99=10s"))
    assert "suffice" not in last(solve(Problem(graph, "1x2000")))


def test_a_short_time_limit_bounds_the_price_of_the_bound() -> None:
    """The whole bound may take longer than the search, and is tighter."""

    def link_bound_problem() -> Problem:
        return link_bound(Recipe("layered", 1, range(50, 51), 5).graph(0), 4, "nic", True, 10.0)

    problem = link_bound_problem()
    short = solve(problem, "auto:seconds=0.1").bound
    assert "full" not in vars(compiled(problem).load_bounds)
    whole = score.bound(problem)
    assert short == score.bound(problem, 0.1) > whole
    for placer in ("greedy", "climb:evaluations=10", "climb:seconds=1"):
        assert solve(link_bound_problem(), placer).bound == whole


def test_a_result_is_saved_as_a_placement_file(tmp_path: Path) -> None:
    result = sp.place(two_operator_graph(), "2x2000", placer="round-robin", target_utilisation=0.9)
    result.save(tmp_path / "placement.json")
    again = sp.read_placement(tmp_path / "placement.json")
    assert again == result.placement
    assert sp.simulate(again) == result.score


@settings(max_examples=30)
@given(case=cases("path-average"))
def test_all_kinds_of_arguments_give_the_same_score(case: Case) -> None:
    problem, devices = case
    placement = sp.Placement(problem, devices)
    known = score.simulate(placement)
    assert sp.simulate(placement) == known
    assert sp.simulate(placement, source_rate=problem.source_rate) == known
    by_names = sp.simulate(
        problem.graph,
        placement.assignment,
        problem.cluster,
        source_rate=problem.source_rate,
        model="path-average",
    )
    assert by_names == known


def test_arguments_override_the_placement() -> None:
    result = sp.place(two_operator_graph(), "2x2500", placer="round-robin", target_utilisation=0.8)
    assert sp.simulate(result) == result.score
    assert sp.simulate(result, source_rate=1e3).source_rate == 1e3
    assert sp.simulate(result, model="path-average").model == "path-average"
    assert sp.simulate(result, target_utilisation=1).relative_throughput == 1
    slower = sp.simulate(result, cluster="2x1250", target_utilisation=1)
    assert slower.bottleneck.utilisation == pytest.approx(2 * result.score.bottleneck.utilisation)
    several = sp.place(two_operator_graph(), source_rate=(1e3, 2e4), placer="round-robin")
    assert sp.simulate(several, model="path-average").source_rate == 2e4


def test_invalid_arguments_are_refused() -> None:
    result = sp.place(two_operator_graph(), "2x2500", placer="round-robin")
    with pytest.raises(UsageError, match="a graph requires an assignment"):
        sp.simulate(two_operator_graph())  # type: ignore[call-overload]  # deliberately wrong
    with pytest.raises(UsageError, match="cannot combine a placement with an assignment"):
        sp.simulate(result, {"a": "d0"})  # type: ignore[call-overload]
    with pytest.raises(ProblemError, match="operator 'b' has no device"):
        sp.simulate(two_operator_graph(), {"a": "d0"})
    with pytest.raises(ProblemError, match="no device 'd1'"):
        sp.simulate(result, cluster="1x2500")
    with pytest.raises(sp.StreamplaceError, match="must be COUNTxMIPS"):
        sp.simulate(two_operator_graph(), {"a": "d0"}, "cluster.json")


CLUSTER = "3x2500"


def placed(count: int, *devices: int, last: str = "out") -> sp.Placement:
    """Return a placement of `read`, some instances of `count`, and another operator."""
    graph = sp.StreamGraph(
        [
            sp.Operator("read", 1e4, 10.0),
            sp.Operator("count", 1e5, 10.0, memory_bytes=1e6, parallelism=count),
            sp.Operator(last, 1e4, 0.0, memory_bytes=7.0),
        ],
        [("read", "count"), ("count", last)],
        source_rate=1e3,
    )
    return sp.Placement(sp.Problem(graph, CLUSTER), list(devices))


def test_operators_with_other_numbers_of_instances_are_compared_by_device() -> None:
    found = diff(placed(2, 0, 0, 1, 2), placed(3, 0, 1, 2, 1, 0))
    assert [(m.operator, m.source, m.target) for m in found.moves] == [("out", "d2", "d0")]
    assert found.memory_bytes == 7.0
    assert found.to_dict()["rescaled"] == [
        {
            "operator": "count",
            "before": 2,
            "after": 3,
            "started": {"d1": 1, "d2": 1},
            "stopped": {"d0": 1},
        }
    ]
    assert "1 move with 7 B of memory; 1 operator with other numbers of instances" in repr(found)


def test_a_single_instance_has_the_name_of_the_operator() -> None:
    (only,) = diff(placed(1, 0, 0, 0), placed(2, 0, 0, 0, 0)).rescaled
    assert (only.before, only.after) == (1, 2)
    assert (dict(only.started), dict(only.stopped)) == ({"d0": 1}, {})


def test_with_equal_numbers_instances_are_compared_by_name() -> None:
    found = diff(placed(2, 0, 0, 1, 0), placed(2, 0, 1, 0, 0))
    assert found.rescaled == ()
    assert [move.operator for move in found.moves] == ["count[0]", "count[1]"]


def test_other_operators_are_named() -> None:
    message = "different operators: only the first has 'out', only the second has 'store'"
    with pytest.raises(ProblemError, match=message):
        diff(placed(2, 0, 0, 0, 0), placed(3, 0, 0, 0, 0, 0, last="store"))
