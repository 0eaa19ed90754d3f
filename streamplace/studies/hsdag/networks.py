"""ResNet-50, Inception-V3 and BERT-base on a CPU and an accelerator."""

from streamplace.files.datasets import read_graph
from streamplace.integrations.neural.devices import MIPS
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem
from streamplace.studies.hsdag.costs import ACCELERATOR, CPU, with_accelerator

NETWORKS = ("resnet50", "inception-v3", "bert-base")
RATIO_SCALES = (0.5, 1.0, 2.0)
"""Factors of the ratios between the devices: the registered ones, and half and twice as much."""
BANDWIDTH_MBPS = 96_000.0
"""12 GB/s in each direction."""
LATENCY_S = 20e-6


def network_graph(name: str) -> StreamGraph:
    """Return a network's graph, which comes with streamplace and has measured CPU times.

    Raises
    ------
    FormatError
        If there is no such network.
    """
    return read_graph(f"dataset:networks/{name}.json")


def network_problem(name: str, ratio_scale: float = 1.0) -> Problem:
    """Return the problem of one pass through a network on a CPU and an accelerator.

    Device 0 is the CPU. A result is sent to the other device once, however many operators there
    read it, and messages in the same direction wait for each other.

    Parameters
    ----------
    name
        One of `NETWORKS`.
    ratio_scale
        See `with_accelerator`.

    Raises
    ------
    FormatError
        If there is no such network.
    GraphError
        If `ratio_scale` is not a positive number.
    """
    graph = with_accelerator(network_graph(name), ratio_scale)
    return Problem(graph, two_devices(), objective=Makespan())


def two_devices() -> Cluster:
    """Return the CPU and the accelerator, with the links between them."""
    network = Network("pair", bandwidth_mbps=BANDWIDTH_MBPS, latency_s=LATENCY_S)
    return Cluster([Device(kind, MIPS, kind=kind) for kind in (CPU, ACCELERATOR)], network)
