"""The networks that come with streamplace, on a CPU and an accelerator."""

import networkx as nx
import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import FormatError
from streamplace.papers.hsdag.study.registered import (
    NETWORKS,
    RATIO_SCALES,
    network_graph,
    network_problem,
)
from streamplace.placers.registry import ready_placer
from streamplace.scoring.makespan_evaluator import MakespanEvaluator
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
@pytest.mark.parametrize("scale", RATIO_SCALES)
def test_one_device_runs_all_operators_in_turn(name: str, scale: float) -> None:
    problem = network_problem(name, scale)
    for device, kind in enumerate(("cpu", "accelerator")):
        times = [seconds[kind] for seconds in problem.graph.seconds_on.values()]
        alone = np.full(len(problem.graph.names), device, np.int32)
        assert makespan(problem, alone) == pytest.approx(sum(t for t in times if t is not None))


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
    placer = ready_placer("search:evaluations=3000")
    found = placer(problem, np.random.default_rng(0)).devices
    assert makespan(problem, found) < min(alone)


def test_an_unknown_network() -> None:
    with pytest.raises(FormatError, match=r"did you mean 'dataset:networks/resnet50\.json'"):
        network_problem("resnet5")
