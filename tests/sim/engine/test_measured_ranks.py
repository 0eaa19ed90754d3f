"""Rankings of placements as measured on a real engine (appendix A of the paper).

The setting is 200 tuples/s, links of 20 Mbit/s, and a fifth of a 2500 MIPS core per device.
"""

from itertools import pairwise

import pytest

from streamplace import Cluster, Network, Operator, Placement, Problem, Stream, StreamGraph
from streamplace.problem.cluster import Device, NetworkKind
from streamplace.problem.objective import MODELS, Model
from streamplace.scoring.throughput import simulate

RATE, MIPS = 200.0, 500.0
FULL = MIPS * 1e6 / RATE  # instructions per tuple that use a whole device
SMALL = 100.0  # bytes
of_every_model = pytest.mark.parametrize("model", MODELS)
of_every_kind = pytest.mark.parametrize("kind", ["pair", "nic"])


def relative(
    graph: StreamGraph, devices: list[int], model: Model, kind: NetworkKind = "pair"
) -> float:
    """Return the relative throughput of a placement on five devices."""
    network = Network(kind, bandwidth_mbps=20.0)
    cluster = Cluster([Device(f"d{i}", MIPS) for i in range(5)], network)
    problem = Problem(graph, cluster, source_rate=RATE, model=model)
    return simulate(Placement(problem, devices)).relative_throughput


def chain_of_the_paper(share: float, payload: float) -> StreamGraph:
    """Return T2: a source, four operators that each use a share of a device, and a sink."""
    names = ["source", "op1", "op2", "op3", "op4", "sink"]
    middle = [Operator(name, share * FULL, payload) for name in names[1:5]]
    ends = [Operator("source", 1000, SMALL), Operator("sink", 1000, SMALL)]
    streams = [Stream(a, b) for a, b in pairwise(names)]
    return StreamGraph([ends[0], *middle, ends[1]], streams)


@of_every_model
@of_every_kind
@pytest.mark.parametrize(
    ("share", "payload", "expected"),
    [
        (1.0, 25_000.0, "P1<P2"),
        (1.0, SMALL, "P1<P2"),
        (0.05, 25_000.0, "P1>P2"),
        (0.05, SMALL, "P1=P2"),
    ],
)
def test_t2(share: float, payload: float, expected: str, model: Model, kind: NetworkKind) -> None:
    """P1 puts the four operators on one device and P2 on four; the sink joins the last one."""
    graph = chain_of_the_paper(share, payload)
    together = relative(graph, [0, 1, 1, 1, 1, 1], model, kind)
    spread = relative(graph, [0, 1, 2, 3, 4, 4], model, kind)
    if expected == "P1=P2":
        assert together == pytest.approx(spread, rel=1e-3)
    else:
        worse, better = sorted([together, spread])
        assert (together < spread) == (expected == "P1<P2")
        assert worse < 0.6 * better


def branches_of_the_paper(payload: float) -> StreamGraph:
    """Return T3: two branches of two operators; any two of the operators fill a device."""
    heavy = [Operator(name, FULL, payload) for name in ("op1", "op2")]
    light = [Operator(name, FULL, SMALL) for name in ("op3", "op4")]
    ends = [Operator("source", 1000, SMALL), Operator("sink", 1000, SMALL)]
    streams = [
        Stream("source", "op1", 0.5),
        Stream("source", "op2", 0.5),
        *(
            Stream(a, b)
            for a, b in (("op1", "op3"), ("op2", "op4"), ("op3", "sink"), ("op4", "sink"))
        ),
    ]
    return StreamGraph([ends[0], *heavy, *light, ends[1]], streams)


@of_every_model
@of_every_kind
def test_t3(model: Model, kind: NetworkKind) -> None:
    """P1 keeps branches together; P2 and P3 cut the heavy streams."""
    placements = {"P1": [2, 0, 1, 0, 1, 2], "P2": [2, 0, 0, 1, 1, 2], "P3": [2, 0, 1, 1, 0, 2]}
    big = {
        name: relative(branches_of_the_paper(40_000.0), p, model, kind)
        for name, p in placements.items()
    }
    small = {
        name: relative(branches_of_the_paper(SMALL), p, model, kind)
        for name, p in placements.items()
    }
    assert big["P1"] > 1.2 * big["P3"] > 1.44 * big["P2"]
    assert small["P2"] == pytest.approx(small["P1"], rel=1e-3)
    assert small["P3"] == pytest.approx(small["P1"], rel=1e-3)


@of_every_model
def test_t4_distinguishes_pair_links_from_nics(model: Model) -> None:
    """Two heavy streams from one device share its NIC, but no pair link."""
    names = ["source", "left", "right"]
    graph = StreamGraph(
        [Operator(name, 1000, 12_500.0) for name in names],
        [Stream("source", "left"), Stream("source", "right")],
    )
    assert relative(graph, [0, 1, 2], model, "pair") == pytest.approx(1.0, abs=2e-3)
    assert relative(graph, [0, 1, 2], model, "nic") == pytest.approx(0.5, abs=2e-3)
