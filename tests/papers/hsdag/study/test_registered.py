"""The networks of the study on a CPU and an accelerator, and the times on the accelerator."""

from collections.abc import Mapping

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamplace as sp
from streamplace.errors import FormatError, GraphError
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.papers.hsdag.study.registered import (
    ACCELERATOR_ONLY,
    LAUNCH_S,
    NETWORKS,
    RATIO_SCALES,
    RATIOS,
    below_cpu,
    network_graph,
    network_problem,
    with_accelerator,
)
from streamplace.placers.registry import placer_of
from streamplace.problem.graph import Operator, StreamGraph
from streamplace.util.arrays import Ints

SIZES = {"resnet50": (174, 189), "inception-v3": (313, 347), "bert-base": (256, 314)}
PRODUCTS = {"resnet50": 53 + 1, "inception-v3": 94 + 1, "bert-base": 12 * 8 + 1}
"""Convolutions and products in the papers of the networks, and the last layer."""
WORK = {"resnet50": 4.1e9, "inception-v3": 5.7e9, "bert-base": 11.2e9}
"""Pairs of a multiplication and an addition: torchvision's figures, and BERT's for 128 tokens."""


def makespan(problem: sp.Problem, devices: Ints) -> float:
    return float(MakespanEvaluator(problem).makespans(devices)[0])


@pytest.mark.parametrize("name", NETWORKS)
def test_a_graph_is_that_of_the_network(name: str) -> None:
    graph = network_graph(name)
    assert (len(graph.names), len(graph.stream_source)) == SIZES[name]
    assert graph.name == name
    types = [graph.type[v] for v in range(len(graph.names))]
    assert sum(kind in {"convolution", "addmm", "bmm"} for kind in types) == PRODUCTS[name]
    assert graph.instructions.sum() / 2 == pytest.approx(WORK[name], rel=0.02)
    assert nx.is_weakly_connected(
        nx.DiGraph(zip(graph.stream_source, graph.stream_target, strict=True))
    )
    for v in range(len(graph.names)):
        on_cpu = graph.seconds_on[v]["cpu"]
        assert on_cpu is not None
        assert 0 < on_cpu < 0.1


@pytest.mark.parametrize("name", NETWORKS)
def test_one_device_runs_all_operators_in_turn(name: str) -> None:
    problem, seconds = network_problem(name, RATIO_SCALES[name]), []
    for device, kind in enumerate(("cpu", "accelerator")):
        times = [each[kind] for each in problem.graph.seconds_on.values()]
        alone = np.full(len(problem.graph.names), device, np.int32)
        seconds.append(makespan(problem, alone))
        assert seconds[-1] == pytest.approx(sum(t for t in times if t is not None))
    below = 100 * (1 - seconds[1] / seconds[0])
    assert below == pytest.approx(below_cpu(ACCELERATOR_ONLY, name), abs=0.1)  # as published


def test_a_result_is_sent_once_at_12_gb_per_second_and_20_us() -> None:
    """Two operators on the accelerator read the first of ResNet's relus with two readers."""
    problem = network_problem("resnet50")
    graph = problem.graph
    fork = int(np.flatnonzero(np.bincount(graph.stream_source) > 1)[0])
    devices = np.ones(len(graph.names), np.int32)
    devices[: fork + 1] = 0
    times = [graph.seconds_on[v] for v in range(len(graph.names))]
    before = sum(each["cpu"] or 0.0 for each in times[: fork + 1])
    after = sum(each["accelerator"] or 0.0 for each in times[fork + 1 :])
    sent = graph.payload_bytes[fork] / 12e9 + 20e-6
    assert makespan(problem, devices) == pytest.approx(before + sent + after)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_best_placement_is_not_one_device(name: str) -> None:
    problem = network_problem(name)
    alone = [makespan(problem, np.full(len(problem.graph.names), d, np.int32)) for d in (0, 1)]
    placer = placer_of("search:evaluations=3000")
    found = placer(problem, np.random.default_rng(0)).devices
    assert makespan(problem, found) < min(alone)


def test_an_unknown_network() -> None:
    with pytest.raises(FormatError, match=r"did you mean 'dataset:networks/resnet50\.json'"):
        network_problem("resnet5")


REGISTERED: Mapping[float, tuple[str, ...]] = {
    12: ("convolution", "addmm", "bmm"),
    4: (
        "_native_batch_norm_legit_no_training",
        "native_layer_norm",
        "_softmax",
        "max_pool2d_with_indices",
        "avg_pool2d",
        "mean",
    ),
    3: ("add", "mul", "relu", "gelu", "tanh", "ge", "where"),
    1: ("cat", "clone", "embedding", "gather", "arange", "full", "scalar_tensor"),
}
"""Ratio -> the types of the three networks that have it."""
RATIO_OF = {kind: ratio for ratio, kinds in REGISTERED.items() for kind in kinds}


def graph(**fields: object) -> StreamGraph:
    """Return a graph of one operator."""
    values = {"type": "add", "seconds_on": {"cpu": 6e-5}, **fields}
    return StreamGraph([Operator("a", 1.0, 0.0, **values)])  # type: ignore[arg-type]  # of the tests


def test_the_networks_have_exactly_these_types() -> None:
    types = {kind for name in NETWORKS for kind in network_graph(name).type.values()}
    assert types == RATIO_OF.keys()
    assert {kind: RATIOS[kind] for kind in types} == RATIO_OF


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_times_follow_from_cpu_time_and_type(name: str, scale: float) -> None:
    before = network_graph(name)
    after = with_accelerator(before, scale)
    assert after.with_numbers(seconds_on=before.seconds_on)[0] == before
    for v, seconds in after.seconds_on.items():
        on_cpu = before.seconds_on[v]["cpu"]
        assert on_cpu is not None
        ratio = RATIO_OF[before.type[v]] * scale
        assert seconds == {"cpu": on_cpu, "accelerator": pytest.approx(on_cpu / ratio + 10e-6)}


@given(seconds=st.floats(0, 10), scale=st.floats(1e-3, 1e3), kind=st.sampled_from(sorted(RATIOS)))
def test_a_larger_scale_shortens_all_but_the_launch(
    seconds: float, scale: float, kind: str
) -> None:
    measured = graph(type=kind, seconds_on={"cpu": seconds})
    one, scaled = (
        with_accelerator(measured, each).seconds_on[0]["accelerator"] for each in (1.0, scale)
    )
    assert one is not None
    assert scaled is not None
    assert scaled - LAUNCH_S == pytest.approx((one - LAUNCH_S) / scale, abs=1e-15)


@pytest.mark.parametrize(
    ("fields", "scale", "message"),
    [
        ({"seconds_on": {"gpu": 1.0}}, 1.0, "operator 'a' has no time on kind 'cpu'; measure it"),
        ({"seconds_on": {"cpu": None}}, 1.0, "operator 'a' has no time on kind 'cpu'"),
        ({"seconds_on": {}}, 1.0, "operator 'a' has no time on kind 'cpu'"),
        ({"type": "relu6"}, 1.0, "operator 'a': no ratio for the type 'relu6'"),
        ({"type": ""}, 1.0, "operator 'a': no ratio for the type ''"),
        ({}, 0.0, "ratio_scale: must be a positive number"),
        ({}, float("inf"), "ratio_scale: must be a positive number"),
        ({}, float("nan"), "ratio_scale: must be a positive number"),
    ],
)
def test_faults(fields: dict[str, object], scale: float, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        with_accelerator(graph(**fields), scale)
