"""Reference problems of ../shared/data, as problems with the best makespan that is known."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import streamplace as sp
from benchmarks.released_data import SHARED, needed
from streamplace.files.clusters import from_form as cluster_from_form
from streamplace.files.graphs import from_form as graph_from_form
from streamplace.files.reading import check
from streamplace.files.schema import ClusterForm, GraphForm
from streamplace.formats.documents import problem_of_file

LAYERED = ((0, 4, 0.3), (1, 8, 0.3), (2, 8, 1.0), (3, 20, 1.0), (4, 8, 3.0), (5, 20, 0.3))
"""Seed, number of devices, and ratio of communication to computation."""


@dataclass(frozen=True)
class Reference:
    """A problem and what is known about it.

    Parameters
    ----------
    best
        The shortest makespan known, in seconds.
    """

    name: str
    problem: sp.Problem
    best: float


def giph(name: str) -> Iterator[Reference]:
    """Return the 30 problems of ``giph-single`` or ``giph-several``; all optima are proven."""
    path = needed(SHARED / "makespan" / f"{name}.jsonl.gz")
    for i, line in enumerate(gzip.decompress(path.read_bytes()).splitlines()):
        row = json.loads(line)
        problem = problem_of(row["graph"], row["cluster"])
        yield Reference(f"{name} {i}", problem, row["reference"]["optimum"])


def problem_of(graph: dict[str, Any], cluster: dict[str, Any]) -> sp.Problem:
    """Return the problem of a graph and a cluster in their JSON forms."""
    return sp.Problem(
        graph_from_form(check(GraphForm, graph, "graph")),
        cluster_from_form(check(ClusterForm, cluster, "cluster")),
        objective=sp.Makespan(),
    )


def layered() -> Iterator[Reference]:
    """Return six layered random graphs of 1,000 operators; times are abstract."""
    rows = known("others.json")["layered"]
    for (seed, devices, ratio), row in zip(LAYERED, rows, strict=True):
        problem = layered_problem(1000, devices, seed, ratio)
        yield Reference(f"layered {seed}", problem, row["best_known"])


def doppler(devices: int) -> Iterator[Reference]:
    """Return the released graphs of DOPPLER on 4 or 8 equal devices; times are FLOPs."""
    for result in known("doppler.json")["results"]:
        row = result["devices"].get(str(devices))
        if row is not None:
            problem = problem_of_file(SHARED / "doppler" / result["file"], "doppler", devices)
            name = result["file"].partition(".")[0]
            yield Reference(name, problem, row["best_known"] * 1e10)


def pipedream() -> Iterator[Reference]:
    """Return the forward passes of PipeDream's profiles on four equal devices."""
    for row in known("others.json")["pipedream"]:
        problem = problem_of_file(SHARED / "pipedream" / row["file"], "pipedream", row["devices"])
        yield Reference(row["file"], problem, row["best_known"] / 1e3)


def dnn_latency() -> Iterator[Reference]:
    """Return the latency graphs of dnn-partitioning, with colocation and memory."""
    for row in known("others.json")["dnn_latency"]:
        problem = problem_of_file(SHARED / "dnn" / "latency" / row["file"], "dnn-latency")
        yield Reference(row["file"], problem, row["best_known"] / 1e3)


def known(name: str) -> dict[str, Any]:
    """Return the figures of a file of ../shared/data/makespan."""
    figures: dict[str, Any] = json.loads(needed(SHARED / "makespan" / name).read_text())
    return figures


def layered_problem(operators: int, devices: int, seed: int, ratio: float) -> sp.Problem:
    """Return a random layered graph on unequal devices, about two streams per operator.

    The draws are those that ../shared/data/makespan/settings.md describes.

    Parameters
    ----------
    ratio
        Ratio of communication to computation.
    """
    rng = np.random.RandomState(seed)
    layers, first = list[np.ndarray[Any, Any]](), 0
    width = max(2, int(np.sqrt(operators)))
    while first < operators:
        count = min(operators - first, rng.randint(1, 2 * width))
        layers.append(np.arange(first, first + count))
        first += count
    ends = set[tuple[int, int]]()
    for i in range(1, len(layers)):
        for target in layers[i]:
            for _ in range(max(1, rng.poisson(1.0) + 1)):
                near = rng.rand() < 0.7
                layer = layers[i - 1 if near else rng.randint(max(0, i - 3), i)]
                ends.add((int(layer[rng.randint(len(layer))]), int(target)))
    streams = sorted(ends)
    work, speed = rng.uniform(0.5, 1.5, operators), rng.uniform(0.5, 1.5, devices)
    data = rng.uniform(0.5, 1.5, len(streams)) * ratio
    latency, per_unit = _symmetric(rng, 0.0, 0.2, devices), _symmetric(rng, 0.6, 1.4, devices)
    names = [f"v{v}" for v in range(operators)]
    graph = sp.StreamGraph(
        [sp.Operator(name, 1e6 * w, 0.0) for name, w in zip(names, work, strict=True)],
        [
            sp.Stream(names[v], names[w], payload_bytes=125_000 * size)
            for (v, w), size in zip(streams, data, strict=True)
        ],
        firing="all",
    )
    overrides = tuple(
        sp.LinkOverride(f"d{a}", f"d{b}", 1.0 / per_unit[a, b], float(latency[a, b]))
        for a in range(devices)
        for b in range(devices)
        if a != b
    )
    network = sp.Network("free", bandwidth_mbps=1.0, latency_s=0.0, overrides=overrides)
    cluster = sp.Cluster([sp.Device(f"d{d}", float(s)) for d, s in enumerate(speed)], network)
    return sp.Problem(graph, cluster, objective=sp.Makespan())


def _symmetric(
    rng: np.random.RandomState, low: float, high: float, devices: int
) -> np.ndarray[Any, Any]:
    drawn = rng.uniform(low, high, (devices, devices))
    both = (drawn + drawn.T) / 2
    np.fill_diagonal(both, 0.0)
    return both
