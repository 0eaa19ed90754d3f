"""Loads of many instances, compared with those of the graph of instances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamplace as sp
from streamplace.capacity.sizing.factored import Instances, loads_of
from streamplace.problem.network import NetworkKind
from streamplace.scoring.registry import evaluator


@st.composite
def jobs(draw: st.DrawFn) -> tuple[sp.StreamGraph, sp.Cluster]:
    """Return a job with stated numbers of instances, and a cluster."""
    count = draw(st.integers(1, 4))
    operators = [
        sp.Operator(
            f"op{v}",
            draw(st.sampled_from([1e4, 3e5])),
            draw(st.sampled_from([0.0, 500.0])),
            parallelism=draw(st.integers(1, 4)),
            partitions=draw(st.sampled_from([None, 4, 7])),
            scaling=draw(st.sampled_from([{}, {"sigma": 0.1}])),
            cores=draw(st.sampled_from([1, 2])),
        )
        for v in range(count)
    ]
    kinds = ["", "forward", "hash", "rebalance", "broadcast"]
    streams = [
        sp.Stream(
            f"op{u}",
            f"op{v}",
            draw(st.sampled_from([0.5, 1.0])),
            partitioning=(kind := draw(st.sampled_from(kinds))),
            key_shares=draw(st.sampled_from([{}, {"hot": 0.4}])) if kind == "hash" else {},
        )
        for v in range(1, count)
        for u in draw(st.sets(st.integers(0, v - 1), min_size=1))
    ]
    devices = [sp.Device("d0", 500.0, 2), sp.Device("d1", 1500.0), sp.Device("d2", 1000.0, 3)]
    kinds_of_networks: list[NetworkKind] = ["pair", "nic", "free"]
    of_network = draw(st.sampled_from(kinds_of_networks))
    network = sp.Network(of_network, bandwidth_mbps=draw(st.sampled_from([None, 2.0])), gap_s=1e-4)
    return sp.StreamGraph(operators, streams, source_rate=1e3), sp.Cluster(devices, network)


@given(jobs(), st.integers(0, 99))
def test_loads_are_those_of_the_graph_of_instances(
    case: tuple[sp.StreamGraph, sp.Cluster], seed: int
) -> None:
    graph, cluster = case
    counts = {o.name: int(o.parallelism or 1) for o in graph.operators}
    instances, rng = Instances(graph, counts, 1e3), np.random.default_rng(seed)
    on = [rng.integers(0, 3, count).astype(np.int32) for count in counts.values()]
    problem = sp.Problem(graph, cluster)
    largest = evaluator(problem).loss(np.concatenate(on))[0]
    assert loads_of(instances, cluster, on).largest == pytest.approx(float(largest), rel=1e-9)
