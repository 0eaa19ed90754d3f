"""Tests for the function `simulate` and its three kinds of arguments."""

import pytest
from hypothesis import given, settings

import streamplace as sp
from benchmarks.reference.strategies import Case, cases
from streamplace.errors import ProblemError, UsageError
from streamplace.scoring import throughput as score
from tests.support.graphs import two_operator_graph


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
