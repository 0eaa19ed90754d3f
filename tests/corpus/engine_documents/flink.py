"""Hand-written Flink documents: the plans of a job before and during its execution."""

from typing import Any

FLINK_EXECUTION: dict[str, Any] = {
    "nodes": [
        {"id": 1, "type": "Source: orders", "pact": "Data Source", "parallelism": 2},
        {
            "id": 3,
            "type": "Join[5]",
            "pact": "Operator",
            "contents": "[5]:Join(where=[=(a, b)])",
            "parallelism": 2,
            "predecessors": [
                {"id": 1, "ship_strategy": "HASH", "side": "second"},
                {"id": 2, "ship_strategy": "BROADCAST", "side": "second"},
            ],
        },
        {"id": 2, "type": "Source: items", "pact": "Data Source", "parallelism": 1},
        {
            "id": 4,
            "type": "Sink: out",
            "pact": "Data Sink",
            "parallelism": 2,
            "predecessors": [{"id": 3, "ship_strategy": "FORWARD", "side": "second"}],
        },
    ]
}
FLINK_RUNNING: dict[str, Any] = {
    "plan": {
        "jid": "0a1b",
        "name": "a job",
        "nodes": [
            {
                "id": "c3",
                "parallelism": 1,
                "description": "Sink: Writer<br/>",
                "inputs": [
                    {"num": 0, "id": "b2", "ship_strategy": "HASH", "exchange": "pipelined"},
                    {"num": 1, "id": "b2", "ship_strategy": "REBALANCE", "exchange": "pipelined"},
                ],
            },
            {
                "id": "b2",
                "parallelism": 3,
                "description": "parse<br/>:- Filter &lt; 5<br/>:  +- count<br/>+- Sink: log<br/>",
                "inputs": [{"num": 0, "id": "a1", "ship_strategy": "BROADCAST"}],
            },
            {"id": "a1", "parallelism": 1, "description": "Source: lines -&gt; Map"},
        ],
    }
}

FLINK_DEPLOYMENT = """\
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata:
  name: clicks
  labels: {team: "web"}
spec:
  image: flink:2.2
  flinkConfiguration:
    taskmanager: {numberOfTaskSlots: 2, memory.managed.size: 1g}
    state.savepoints.dir: 's3://bucket/savepoints'
  taskManager:
    replicas: 3
    resource: {cpu: 1.5, memory: 2g}
  job: {jarURI: "local:///opt/clicks.jar", args: [--rate, "100"], parallelism: 2}
"""

_ANY = {"requiredDistribution": {"type": "UNKNOWN"}, "damBehavior": "PIPELINED", "priority": 0}
_HASH = {**_ANY, "requiredDistribution": {"type": "HASH", "keys": [0]}}
_SINGLE = {**_ANY, "requiredDistribution": {"type": "SINGLETON"}}
FLINK_COMPILED: dict[str, Any] = {
    "flinkVersion": "2.3",
    "nodes": [
        {"id": 1, "type": "stream-exec-table-source-scan_2"},
        {"id": 2, "type": "stream-exec-exchange_1", "inputProperties": [_HASH]},
        {"id": 3, "type": "stream-exec-group-aggregate_1", "inputProperties": [_ANY]},
        {"id": 4, "type": "stream-exec-exchange_1", "inputProperties": [_SINGLE]},
        {"id": 5, "type": "stream-exec-rank_1", "inputProperties": [_ANY]},
        {"id": 6, "type": "stream-exec-sink_2", "inputProperties": [_ANY]},
    ],
    "edges": [
        {
            "source": a,
            "target": a + 1,
            "shuffle": {"type": "FORWARD"},
            "shuffleMode": "PIPELINED",
        }
        for a in range(1, 6)
    ],
}


def _table(**options: str) -> dict[str, Any]:
    return {"table": {"identifier": "`a`.`b`.`t`", "resolvedTable": {"options": options}}}


_SCAN, *_BETWEEN, _SINK = FLINK_COMPILED["nodes"]
FLINK_TABLES: dict[str, Any] = FLINK_COMPILED | {
    "nodes": [
        _SCAN | {"scanTableSource": _table(**{"connector": "k", "scan.parallelism": "2"})},
        *_BETWEEN,
        _SINK | {"dynamicTableSink": _table(**{"connector": "k", "sink.parallelism": "4"})},
    ]
}
"""A compiled plan whose tables state the parallelism of their source and sink."""
