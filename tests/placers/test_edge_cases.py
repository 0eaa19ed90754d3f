"""Tests of every placer on extreme problems: a correct placement or a clear error."""

import numpy as np
import pytest

from streamplace import (
    Cluster,
    Constraints,
    Device,
    Network,
    Operator,
    Placement,
    Problem,
    Stream,
    StreamGraph,
)
from streamplace.errors import ClusterError, InfeasibleError
from streamplace.placers.registry import make_placer
from streamplace.problem.objective import Model
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.scoring.throughput import bound
from tests.support.graphs import chain_graph
from tests.support.placements import placement_throughput
from tests.support.placers import QUICK_NAMES

COMPARING_SCORES = ("auto:evaluations=300", "greedy", "single", "search", "multilevel")
EVERY = pytest.mark.parametrize("name", QUICK_NAMES)
MODELS = pytest.mark.parametrize("model", CLOSED_FORMS)


def place_by(problem: Problem, name: str) -> Placement:
    found = make_placer(name)(problem, np.random.default_rng(0))
    assert problem.feasibility.violation(found.devices) is None
    return found


@EVERY
@MODELS
def test_one_operator(name: str, model: Model) -> None:
    problem = Problem(chain_graph(2e6), Cluster.equal(4, mips=1000.0), model=model)
    assert placement_throughput(place_by(problem, name)) == bound(problem) == pytest.approx(500.0)


@EVERY
@MODELS
def test_operators_and_streams_that_cost_nothing(name: str, model: Model) -> None:
    rows = [Operator(x, 0.0, 0.0) for x in "abcd"]
    graph = StreamGraph(rows, [Stream("a", "b"), Stream("b", "c"), Stream("b", "d")])
    problem = Problem(graph, Cluster.equal(3), source_rate=1e4, model=model)
    assert placement_throughput(place_by(problem, name)) == pytest.approx(1e4)


@EVERY
@MODELS
def test_more_devices_than_operators(name: str, model: Model) -> None:
    problem = Problem(chain_graph(1e5, 1e5, payload_bytes=10.0), Cluster.equal(40), model=model)
    assert placement_throughput(place_by(problem, name)) == pytest.approx(1000.0)


@EVERY
def test_an_extremely_slow_device(name: str) -> None:
    cluster = Cluster([Device("fast", 1000.0), Device("slow", 1e-9)])
    found = place_by(Problem(chain_graph(1e5, 1e5, payload_bytes=10.0), cluster), name)
    assert placement_throughput(found) > 0
    if name in COMPARING_SCORES:
        assert set(found.assignment.values()) == {"fast"}


@EVERY
@MODELS
@pytest.mark.parametrize("instructions", [1e-80, 1e-300, 5e-324])
def test_almost_no_work(name: str, model: Model, instructions: float) -> None:
    """No overflow may cause a warning."""
    graph = chain_graph(instructions, 0.0, instructions, payload_bytes=5e5)
    cluster = Cluster.equal(3, mips=1e15, network=Network("nic", bandwidth_mbps=1e-9))
    problem = Problem(graph, cluster, model=model)
    assert 0 < placement_throughput(place_by(problem, name)) <= bound(problem) * (1 + 1e-9)


@pytest.mark.parametrize("name", [name for name in QUICK_NAMES if name != "single"])
@MODELS
def test_almost_no_throughput(name: str, model: Model) -> None:
    """Under path-average a throughput may be too small to be represented."""
    network = Network("pair", bandwidth_mbps=10.0, overhead_s=1e6)
    rules = Constraints(exlocate=[["a", "b"]])
    problem = Problem(
        chain_graph(1e5, 1e5, payload_bytes=1e37),
        Cluster.equal(3, network=network),
        source_rate=1e4,
        model=model,
        constraints=rules,
    )
    assert 0 <= placement_throughput(place_by(problem, name)) < 1e-30


def test_a_device_without_speed_is_refused() -> None:
    with pytest.raises(ClusterError, match="mips must be 1e-09 to"):
        Device("still", 0.0)


def test_contradictory_constraints_are_reported_with_the_problem() -> None:
    rules = Constraints(colocate=[["a", "b"]], exlocate=[["a", "b"]])
    with pytest.raises(InfeasibleError):
        Problem(chain_graph(1e5, 1e5), Cluster.equal(3), constraints=rules)


@MODELS
@pytest.mark.parametrize("name", ["auto:seconds=0", "search:seconds=0"])
def test_no_time_still_gives_a_placement(name: str, model: Model) -> None:
    problem = Problem(chain_graph(*[4e5] * 9), Cluster.equal(4, mips=500.0), model=model)
    assert 0 < placement_throughput(place_by(problem, name)) <= bound(problem) * (1 + 1e-9)
