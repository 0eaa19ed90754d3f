"""Links that groups of devices share, in every score: by hand, and by an independent scorer."""

import pytest

from streamplace import (
    Cluster,
    Device,
    Network,
    Operator,
    Placement,
    Problem,
    Stream,
    StreamGraph,
    simulate,
)
from streamplace.problem.cluster import NetworkKind, Uplink
from streamplace.problem.objective import Model
from streamplace.scoring.flow import flow
from streamplace.scoring.loads import UplinkLoad
from streamplace.workflows.explain import explain_throughput as explain

RATE = 1000.0
GRAPH = StreamGraph(
    [Operator("a", 1.0, 1000.0), Operator("b", 1.0, 1000.0), Operator("c", 1.0, 0.0)],
    [Stream("a", "b"), Stream("b", "c")],
)

SEEDS = [range(20), pytest.param(range(20, 1000), marks=pytest.mark.long)]


def racks(kind: NetworkKind, model: Model = "bottleneck", target: float = 1.0) -> Problem:
    """Return a problem whose streams have 8 Mbit/s each, on two racks and a device without one."""
    devices = [
        Device("x0", 1e4, group="x"),
        Device("x1", 1e4, group="x"),
        Device("y0", 1e4, group="y"),
        Device("alone", 1e4),
    ]
    uplinks = (Uplink("x", 4.0, 16.0), Uplink("y", None, 2.0))
    cluster = Cluster(devices, Network(kind, 100.0, uplinks=uplinks))
    return Problem(GRAPH, cluster, source_rate=RATE, model=model, target_utilisation=target)


@pytest.mark.parametrize("kind", ["pair", "nic"])
@pytest.mark.parametrize("target", [1.0, 0.5])
def test_by_hand(kind: NetworkKind, target: float) -> None:
    score = simulate(Placement(racks(kind, target=target), [0, 2, 1]))
    loads = (UplinkLoad("x", "up", 2.0), UplinkLoad("x", "down", 0.5), UplinkLoad("y", "down", 4.0))
    assert score.uplinks == loads
    assert (score.bottleneck.kind, score.bottleneck.name) == ("uplink", "->group:y")
    assert score.throughput == pytest.approx(RATE * target / 4.0)
    assert score.to_dict()["uplinks"][0] == {"group": "x", "direction": "up", "utilisation": 2.0}
    assert len(score.links) == (2 if kind == "pair" else 4)
    assert "->group:y" in str(score)


def test_nothing_is_shared_within_a_group_or_without_one() -> None:
    within = simulate(Placement(racks("pair"), [0, 1, 0]))
    assert within.uplinks == ()
    assert "uplinks" not in within.to_dict()
    assert within.throughput == RATE
    out = simulate(Placement(racks("pair"), [0, 3, 3]))
    assert out.uplinks == (UplinkLoad("x", "up", 2.0),)


def test_path_average_scales_flows_at_each_uplink() -> None:
    scored = simulate(Placement(racks("pair", "path-average"), [0, 2, 2]))
    assert scored.throughput == pytest.approx(RATE / 4.0)  # a half passes x ->, half of it -> y
    both = simulate(Placement(racks("nic", "path-average"), [0, 2, 1]))
    assert both.throughput == pytest.approx(RATE / 4.0)


@pytest.mark.parametrize("kind", ["pair", "nic"])
def test_the_engine_comes_to_the_same_throughput(kind: NetworkKind) -> None:
    scored = simulate(Placement(racks(kind, "engine"), [0, 2, 1]))
    assert scored.throughput == pytest.approx(RATE / 4.0, rel=0.01)
    uplinks = {uplink.name: uplink.utilisation for uplink in scored.uplinks}
    assert uplinks["->group:y"] == pytest.approx(1.0, abs=0.01)


def test_explain_names_the_streams_on_an_uplink() -> None:
    found = explain(Placement(racks("nic"), [0, 2, 1]))
    assert [one.names for one in found.contributions] == [("a", "b")]
    assert found.moves
    assert "from" in found.contributions[0].to_dict()


def test_problems_without_uplinks_have_no_further_links() -> None:
    plain = flow(Problem(GRAPH, Cluster.equal(3), source_rate=1.0))
    assert (plain.uplinks, len(plain.up), len(plain.gap_s)) == (0, 0, 9)
