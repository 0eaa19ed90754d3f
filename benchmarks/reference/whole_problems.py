"""Hypothesis strategies: problems that use every feature, and a placement of each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from benchmarks.reference.grouped_problems import grouped_cluster
from benchmarks.reference.strategies import clusters, graphs
from streamplace import Cluster, Constraints, Problem
from streamplace.errors import InfeasibleError

LIMITS = st.sampled_from([None, None, None, 4e6, 9e6, 2e7])  # bytes of memory
OFFERS = st.sampled_from([0, 1, 1, 2])
GPUS = st.sampled_from([{"gpu": 0.5}, {"gpu": 1.0}])
LATENCIES = st.sampled_from([None, 0.0, 0.001, 0.12])


@st.composite
def whole_problems(draw: st.DrawFn) -> Problem:
    """Return a problem with any of constraints, limits, headroom and several source rates.

    Constraints, memory limits and resources that exclude every placement are left out.
    """
    graph, cluster = draw(graphs()), draw(_limited_clusters())
    if draw(st.booleans()):
        taken = st.dictionaries(st.integers(0, len(graph.names) - 1), GPUS, max_size=3)
        graph, _ = graph.with_numbers(resources=draw(taken))
    rules = draw(rules_of(graph.names, cluster.names)) if draw(st.booleans()) else Constraints()
    count = draw(st.sampled_from([1, 1, 1, 2, 3]))
    rates = draw(st.lists(st.integers(3, 20), min_size=count, max_size=count, unique=True))
    objective: dict[str, Any] = {
        "source_rate": [rate * 100.0 for rate in rates],
        "target_utilisation": draw(st.sampled_from([1.0, 1.0, 1.0, 0.7])),
    }
    try:
        return Problem(graph, cluster, constraints=rules, **objective)
    except InfeasibleError:
        roomy = [replace(device, memory_bytes=None) for device in cluster.devices]
        free, _ = graph.with_numbers(resources={})
        return Problem(free, Cluster(roomy, cluster.network), **objective)


@st.composite
def _limited_clusters(draw: st.DrawFn) -> Cluster:
    cluster = draw(clusters())
    devices = [
        replace(device, memory_bytes=draw(LIMITS), resources={"gpu": draw(OFFERS)})
        for device in cluster.devices
    ]
    network = cluster.network
    overrides = tuple(replace(o, latency_s=draw(LATENCIES)) for o in network.overrides)
    cluster = Cluster(devices, replace(network, overrides=overrides))
    if draw(st.integers(0, 2)) == 2:  # devices in groups
        cluster = grouped_cluster(cluster, np.random.default_rng(draw(st.integers(0, 2**32 - 1))))
    return cluster


@st.composite
def rules_of(draw: st.DrawFn, operators: Sequence[str], devices: Sequence[str]) -> Constraints:
    """Return constraints on up to three operators each, which may contradict each other."""
    some = st.lists(st.sampled_from(operators), min_size=1, max_size=3, unique=True)
    groups = st.lists(some, max_size=2)
    where = st.lists(st.sampled_from(devices), min_size=1, max_size=2, unique=True)
    pins = st.dictionaries(st.sampled_from(operators), st.sampled_from(devices), max_size=1)
    return Constraints(
        pins=draw(pins),
        colocate=draw(groups),
        exlocate=draw(groups),
        allowed=draw(st.dictionaries(st.sampled_from(operators), where, max_size=2)),
        apart_groups=draw(st.just([]) | groups),
    )
