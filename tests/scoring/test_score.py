"""Scores and upper bounds."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.reference import oracle
from benchmarks.reference.strategies import Case, cases, problems
from streamplace.errors import GraphError, SimulationError
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.objective import Model
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.throughput import bound, simulate, throughput
from streamplace.sim.closed_form import path_average
from tests.support.graphs import MBIT

SPLIT = StreamGraph(
    [Operator("s", 1e6, 2 * MBIT), Operator("x", 0, 0), Operator("y", 5e5, 0), Operator("z", 0, 0)],
    [Stream("s", "x"), Stream("s", "y"), Stream("s", "z", selectivity=0.0)],
)


def split(network: Network, model: Model = "bottleneck") -> Placement:
    """Return a placement of s with x on one device, with a full link to y and an idle link to z."""
    cluster = Cluster([Device("p", 2000), Device("q", 1000), Device("r", 1000)], network)
    problem = Problem(SPLIT, cluster, source_rate=1000, model=model)
    return Placement(problem, [0, 0, 1, 2])


@pytest.mark.parametrize(("model", "rate"), [("bottleneck", 500.0), ("path-average", 750.0)])
def test_fields_of_simulate_json(model: Model, rate: float) -> None:
    fields = simulate(split(Network(), model)).to_dict()
    assert fields == {
        "throughput": pytest.approx(rate),
        "relative_throughput": pytest.approx(rate / 1000),
        "bottleneck": {"kind": "link", "name": "p->q", "utilisation": pytest.approx(2.0)},
        "devices": [
            {"name": "p", "utilisation": pytest.approx(0.5), "operators": 2},
            {"name": "q", "utilisation": pytest.approx(0.5), "operators": 1},
            {"name": "r", "utilisation": 0.0, "operators": 1},
        ],
        "links": [{"from": "p", "to": "q", "utilisation": pytest.approx(2.0)}],
        "devices_used": 3,
        "model": model,
    }


def test_network_interfaces_have_one_end() -> None:
    score = simulate(split(Network("nic")))
    assert score.bottleneck.name == "p->"
    assert [link.name for link in score.links] == ["p->", "->q"]
    ends = [(link["from"], link["to"]) for link in score.to_dict()["links"]]
    assert ends == [("p", None), (None, "q")]


def test_a_score_has_a_bottleneck_even_if_nothing_is_full() -> None:
    score = simulate(split(Network(bandwidth_mbps=10_000)))
    assert score.relative_throughput == 1.0
    assert (score.bottleneck.kind, score.bottleneck.name) == ("device", "p")
    assert score.bottleneck.utilisation == pytest.approx(0.5)


def test_unlimited_links_that_carry_traffic_are_listed() -> None:
    (link,) = simulate(split(Network(bandwidth_mbps=None))).links
    assert (link.name, link.utilisation) == ("p->q", 0.0)


@given(cases())
def test_agrees_with_the_oracle(case: Case) -> None:
    problem, devices = case
    score = simulate(Placement(problem, devices))
    on_device, on_link = oracle.utilisations(problem, devices)
    assert {d.name: d.operators for d in score.devices} == {
        name: sum(problem.cluster.names[d] == name for d in devices) for name in on_device
    }
    for loads, expected in ((score.devices, on_device), (score.links, on_link)):
        found: dict[str, Any] = {load.name: load.utilisation for load in loads}
        assert found == pytest.approx({k: float(u) for k, u in expected.items()}, rel=1e-12)
    own = oracle.own_utilisations(problem, devices)
    worst = max([*on_device.values(), *on_link.values(), *own.values()])
    assert score.bottleneck.utilisation == pytest.approx(float(worst), rel=1e-12)
    named = {"device": on_device, "link": on_link, "operator": own}[score.bottleneck.kind]
    assert float(named[score.bottleneck.name]) == pytest.approx(float(worst), rel=1e-12)
    assert score.throughput == pytest.approx(float(oracle.bottleneck(problem, devices)), rel=1e-12)
    assert score.relative_throughput <= 1
    assert score.devices_used == len(set(devices))


@settings(max_examples=30)
@pytest.mark.parametrize("model", ["bottleneck", "path-average"])
@given(data=st.data())
def test_no_placement_exceeds_the_bound(model: Model, data: st.DataObject) -> None:
    problem = data.draw(problems(model, max_size=5))
    operators, devices = len(problem.graph.names), len(problem.cluster.devices)
    every = np.array(list(product(range(devices), repeat=operators)), np.int32)
    assert throughput(problem, every).max() <= bound(problem) * (1 + 1e-12)
    assert bound(problem) <= problem.source_rate


@pytest.mark.parametrize(
    ("instructions", "expected"),
    [([1e6, 1e6], 1000.0), ([4e6, 4e6], 500.0), ([8e6, 1e6], 500.0), ([0, 0], 1000.0)],
    ids=["all", "one on the slow device, or both on the other", "largest operator", "no work"],
)
def test_bound_by_hand(instructions: list[float], expected: float) -> None:
    """The devices have 2,000 and 4,000 MIPS; the source rate is 1,000 tuples/s."""
    rows = [Operator(f"o{v}", work, 0) for v, work in enumerate(instructions)]
    cluster = Cluster([Device("p", 2000), Device("q", 4000)])
    problem = Problem(StreamGraph(rows, [Stream("o0", "o1")]), cluster, source_rate=1000)
    assert bound(problem) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("rows", "streams"),
    [
        ([Operator("a", 1e308, 1)], []),
        ([Operator("a", 1e308, 1), Operator("b", 1e308, 1)], []),
        ([Operator("a", 1.2e308, 1, seconds_on={"gpu": 1})], []),
        ([Operator("a", 0, 1e308), Operator("b", 0, 0)], [Stream("a", "b")]),
        ([Operator(v, 1, 1) for v in "abc"], [Stream("a", "b", 1e200), Stream("b", "c", 1e200)]),
    ],
    ids=["work", "sum of work", "mean over devices", "payload", "rate"],
)
def test_loads_that_overflow(rows: list[Operator], streams: list[Stream]) -> None:
    """The message names the place, and numpy does not warn."""
    problem = Problem(StreamGraph(rows, streams), source_rate=3)
    with pytest.raises(GraphError, match=r"^(operators\[\d\]|streams).*overflows"):
        flow(problem)


@pytest.mark.parametrize("selectivity", [0.0, 5e-324, 2e-308])
def test_graphs_whose_sinks_get_no_tuples(selectivity: float) -> None:
    """Throughput is in source tuples, except where it is counted at the sinks."""
    rows = [Operator("a", 1, 1), Operator("b", 1, 1)]
    graph = StreamGraph(rows, [Stream("a", "b", selectivity)])
    assert simulate(Placement(Problem(graph, source_rate=1), [0, 0])).relative_throughput == 1.0
    for model in ("path-average", "engine"):
        problem = Problem(graph, source_rate=1, model=model)
        with pytest.raises(GraphError, match="no tuple ever reaches a sink"):
            simulate(Placement(problem, [0, 0]))


def test_unsolved_equations_are_a_simulation_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Failure of the solver raises SimulationError; tests/sim tests the solver itself."""

    def give_up(*_: object) -> None:
        raise path_average.ConvergenceError("placement 0: not solved")

    monkeypatch.setattr(path_average, "throughput", give_up)
    with pytest.raises(SimulationError, match=r"^path-average: placement 0"):
        simulate(split(Network(), "path-average"))


def test_relative_throughput_is_at_most_1() -> None:
    """Rounding must not push relative throughput over 1, nor the gap under 0."""
    selectivities = np.random.default_rng(0).random((50, 11))
    for row in selectivities:
        rows = [Operator("s", 1, 1), *(Operator(f"o{v}", 0, 0) for v in range(11))]
        streams = [Stream("s", f"o{v}", float(x)) for v, x in enumerate(row)]
        problem = Problem(StreamGraph(rows, streams), source_rate=1000, model="path-average")
        score = simulate(Placement(problem, np.zeros(12, int)))
        assert score.relative_throughput <= 1.0


@pytest.mark.parametrize("model", ["bottleneck", "path-average"])
def test_an_idle_job_reaches_exactly_the_source_rate(model: Model) -> None:
    """Shares of many sources sum to 1 with rounding, yet relative throughput is exactly 1."""
    for sources in range(1, 40):
        graph = StreamGraph([Operator(f"s{v}", 0, 0) for v in range(sources)], [], source_rate=1e3)
        placement = Placement(Problem(graph, model=model), np.zeros(sources, int))
        assert simulate(placement).relative_throughput == 1.0
