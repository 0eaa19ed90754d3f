"""Small valid documents in streamplace's own formats, as JSON values."""

from typing import Any

GRAPH: dict[str, Any] = {
    "format": "streamplace-graph",
    "version": 1,
    "name": "line",
    "source_rate": 1000.0,
    "source_shares": {"a": 0.25, "b": 0.75},
    "operators": [
        {"name": "a", "instructions": 1000.0, "payload_bytes": 100.0, "payload_bytes_se": 9.0},
        {"name": "b", "instructions": 2000.0, "memory_bytes": 5.0, "instructions_se": 300.0},
        {"name": "c", "instructions": 3000.0, "requires": ["gpu"], "resources": {"gpu": 0.5}},
    ],
    "streams": [
        {"source": "a", "target": "c", "selectivity": 0.5, "selectivity_se": 0.1},
        {"source": "b", "target": "c", "payload_bytes": 7.0},
    ],
    "constraints": {
        "pins": {"a": "d0"},
        "colocate": [["a", "b"]],
        "exlocate": [["a", "c"]],
        "apart_groups": [["b", "c"]],
        "allowed": {"c": ["d1"]},
    },
}
DREAM: dict[str, Any] = {
    "name": "graph_0",
    "operators": [
        {"idx": i, "name": f"op_{i}", "cpu": 1e4 * (i + 1), "payload": 0.2 - 0.1 * i, "weight": 1.0}
        for i in range(3)
    ],
    "connections": [
        {"from_vertex": 0, "to_vertex": 1, "selectivity": 0.5, "weight": 0.2},
        {"from_vertex": 1, "to_vertex": 2, "selectivity": 1.0, "weight": 0.1},
    ],
    "max_throughput": 10000,
    "event_rate": 10000,
    "num_vms": 2,
}
CLUSTER: dict[str, Any] = {
    "format": "streamplace-cluster",
    "version": 1,
    "devices": [
        {"name": "d0", "mips": 2500.0, "cores": 2, "memory_bytes": 1e9, "group": "r", "price": 1.5},
        {
            "name": "d1",
            "mips": 1000.0,
            "labels": ["gpu"],
            "price": 0.5,
            "resources": {"gpu": 2},
        },
    ],
    "network": {
        "kind": "pair",
        "bandwidth_mbps": None,
        "latency_s": 0.002,
        "overrides": [{"from": "d0", "to": "d1", "bandwidth_mbps": 10.0, "gap_s": 1e-6}],
        "uplinks": {"r": {"up_mbps": 100.0, "down_mbps": None}},
    },
}
CEPSIM: dict[str, Any] = {"placements": [{"idx": 0, "ops": [0, 1]}, {"idx": 1, "ops": [2]}]}
DATAFLOW_GRAPH: dict[str, Any] = {
    "format": "streamplace-graph",
    "version": 1,
    "name": "network",
    "source_rate": 10.0,
    "firing": "all",
    "multicast": "device",
    "operators": [
        {"name": "in", "instructions": 1000.0, "type": "input", "output_shape": [8, 3, 32, 32]},
        {
            "name": "conv[0]",
            "instructions": None,
            "payload_bytes": 4096.0,
            "seconds_on": {"cpu": 0.02, "gpu": 0.001},
            "type": "conv",
            "output_shape": [8, 16],
            "meta_op": "conv",
        },
        {"name": "out", "instructions": 500.0, "seconds_on": {"gpu": None}},
    ],
    "streams": [{"source": "in", "target": "conv[0]"}, {"source": "conv[0]", "target": "out"}],
}
COUNTS_GRAPH: dict[str, Any] = {
    "format": "streamplace-graph",
    "version": 1,
    "name": "counts",
    "source_rates": {"in": 100.0},
    "operators": [
        {"name": "in", "instructions": 1000.0, "parallelism": 2, "partitions": 4},
        {
            "name": "count",
            "instructions": 5e5,
            "payload_bytes": 100.0,
            "min_parallelism": 1,
            "max_parallelism": 3,
            "partitions": 128,
            "scaling": {"sigma": 0.1, "kappa": 0.001},
        },
        {"name": "out", "instructions": 500.0, "parallelism": 1},
        {"name": "kept", "instructions": 500.0, "parallelism": 2, "partitions": "flink"},
    ],
    "streams": [
        {"source": "in", "target": "count", "partitioning": "hash", "key_shares": {"hot": 0.2}},
        {"source": "in", "target": "kept", "partitioning": "hash"},
        {"source": "count", "target": "out", "partitioning": "rebalance"},
    ],
}
DATAFLOW_CLUSTER: dict[str, Any] = {
    "format": "streamplace-cluster",
    "version": 1,
    "devices": [
        {"name": "d0", "mips": 2500.0, "kind": "cpu", "startup_s": 1e-5, "slots": 9},
        {"name": "d1", "mips": 1000.0, "kind": "gpu", "overhead_s_per_byte": 0.0},
    ],
    "network": {
        "kind": "egress",
        "bandwidth_mbps": 100.0,
        "overhead_s_per_byte": 1e-9,
        "overrides": [{"from": "d0", "to": "d1", "bandwidth_mbps": 10.0, "latency_s": 0.1}],
    },
}
