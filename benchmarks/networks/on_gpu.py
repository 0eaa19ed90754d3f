"""Real times of networks on a processor and a GPU: of operators, of copies and of whole passes."""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import torch

from benchmarks.networks.models import Network, network
from streamplace.formats.logical_builder import MIPS
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.networks.torch.measuring import measure, with_times
from streamplace.networks.torch.pass_times import PassTimes
from streamplace.papers.hsdag.study.registered import ACCELERATOR, CPU, RATIOS
from streamplace.placers.registry import placer_of
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.cluster import Network as Links
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem

PLACERS = ("heft", "peft", "auto", "search:seconds=5")
LARGE, SMALL = 2**24, 1  # elements of float32 in a copy
COPIES = 30
RANDOM = 4
"""Random placements, which show how far simulated makespans hold where messages matter."""


@dataclass(frozen=True)
class Link:
    """What a copy between the processor and the GPU takes, the slower of both directions."""

    bandwidth_mbps: float
    latency_s: float


def link(device: str) -> Link:
    """Return the link that copies of a large and of a tiny tensor show."""
    ways = [("cpu", device), (device, "cpu")]
    latency = max(_copy_s(SMALL, *way) for way in ways)
    large = max(_copy_s(LARGE, *way) for way in ways)
    return Link(LARGE * 4 * 8 / 1e6 / max(large - latency, 1e-9), latency)


def _copy_s(elements: int, source: str, target: str) -> float:
    tensor = torch.ones(elements, device=source)
    times = []
    for _ in range(COPIES):
        _wait()
        begin = perf_counter()
        tensor.to(target, copy=True)
        _wait()
        times.append(perf_counter() - begin)
    return statistics.median(times)


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def measured_graph(found: Network, device: str, threads: int, repeats: int) -> StreamGraph:
    """Return the graph of a network with its operators' times on the processor and a device."""
    on_cpu, on_gpu = (
        measure(found.module, found.inputs, kind=kind, device=on, threads=threads, repeats=repeats)
        for kind, on in ((CPU, "cpu"), (ACCELERATOR, device.partition(":")[0]))
    )
    found.module.cpu()
    return with_times(on_gpu.graph, on_cpu.graph).with_numbers(multicast="device")[0]


def rows(name: str, device: str, threads: int, repeats: int) -> Iterator[str]:
    """Yield the lines about one network."""
    found = network(name)
    graph = measured_graph(found, device, threads, repeats)
    yield from _ratios(graph)
    way = link(device)
    yield f"link: {way.bandwidth_mbps:,.0f} Mbit/s, {1e6 * way.latency_s:.1f} us"
    links = Links("pair", bandwidth_mbps=way.bandwidth_mbps, latency_s=way.latency_s)
    cluster = Cluster([Device(kind, MIPS, kind=kind) for kind in (CPU, ACCELERATOR)], links)
    problem = Problem(graph, cluster, objective=Makespan())
    count = len(graph.names)
    rng = np.random.default_rng(0)
    placements = {
        CPU: np.zeros(count, np.int32),
        ACCELERATOR: np.ones(count, np.int32),
        **{text: placer_of(text)(problem, rng).devices for text in PLACERS},
        **{f"random {i}": rng.integers(0, 2, count, dtype=np.int32) for i in range(RANDOM)},
    }
    every = np.stack([*placements.values()])
    simulated = MakespanEvaluator(problem).makespans(every)
    times = PassTimes(
        found.module.cpu(),
        found.inputs,
        {CPU: "cpu", ACCELERATOR: device},
        repeats=repeats,
        threads=threads,
    )
    measured = times(problem, every)
    yield f"{'placement':20}{'on the CPU':>12}{'simulated ms':>14}{'measured ms':>14}{'ratio':>8}"
    for (title, row), predicted, seconds in zip(
        placements.items(), simulated, measured, strict=True
    ):
        figures = f"{1e3 * predicted:14.3f}{1e3 * seconds:14.3f}{seconds / predicted:8.2f}"
        yield f"{title:20}{int((row == 0).sum()):12}{figures}"


def _ratios(graph: StreamGraph) -> Iterator[str]:
    """Yield measured ratios of the processor's to the GPU's times beside the registered ones."""
    times: dict[float, list[tuple[float, float]]] = {}
    for v in range(len(graph.names)):
        on_cpu, on_gpu = (graph.seconds_on[v][kind] or 0.0 for kind in (CPU, ACCELERATOR))
        times.setdefault(RATIOS.get(graph.type.get(v, ""), 0.0), []).append((on_cpu, on_gpu))
    titles = f"{'ratio of study':>16}{'operators':>11}{'CPU ms':>10}{'GPU ms':>10}{'ratio':>8}"
    yield f"{titles}{'least GPU us':>14}"
    for ratio, several in sorted(times.items(), reverse=True):
        on_cpu, on_gpu = map(sum, zip(*several, strict=True))
        title = f"{ratio:g}" if ratio else "none"
        yield (
            f"{title:>16}{len(several):11}{1e3 * on_cpu:10.3f}{1e3 * on_gpu:10.3f}"
            f"{on_cpu / on_gpu:8.2f}{1e6 * min(each for _, each in several):14.1f}"
        )
