"""Hand-written Storm documents: a Flux topology, and responses of the Storm UI."""

from typing import Any

FLUX = """\
# a topology of four
name: "words"
config:
  topology.workers: 1
components:
  - id: "helper"
    className: "org.example.Helper"
spouts:
  - id: "lines"
    className: "org.example.Lines"
    parallelism: 2
bolts:
  - id: "split"
    className: "org.example.Split"
    parallelism: 3
  - id: "count"
    className: "org.example.Count"
    parallelism: 4
  - id: "log"
    className: "org.example.Log"
streams:
  - name: "lines --> split"
    from: "lines"
    to: "split"
    grouping:
      type: SHUFFLE
  - from: "split"
    to: "count"
    grouping:
      type: FIELDS
      args: ["word"]
  - from: "split"
    to: "count"
    grouping: {type: ALL, streamId: control}
  - from: "count"
    to: "log"
    grouping:
      type: GLOBAL
"""

FLUX_RESOURCES = """\
name: words
config:
  topology.component.resources.offheap.memory.mb: 64
  topology.max.task.parallelism: 6
  topology.ras.constraints: {count: {maxNodeCoLocationCnt: 1}}
spouts:
  - {id: lines, parallelism: 8, cpuLoad: 50, onHeapMemoryLoad: 1024, offHeapMemoryLoad: 512}
bolts:
  - {id: split, parallelism: "3", offHeapMemoryLoad: 512, constructorArgs: [${path}]}
  - id: count
    parallelism: 4
    numTasks: 2
    onHeapMemoryLoad: "2048"
    config:
      topology.component.resources.map: {gpu.count: 1, offheap.memory.mb: 0}
streams:
  - {from: lines, to: split, grouping: {type: SHUFFLE}}
  - {from: split, to: count, grouping: {type: SHUFFLE}}
  - {from: __system, to: count, grouping: {type: ALL, streamId: __tick}}
"""
VISUALIZATION: dict[str, Any] = {
    "lines": {
        ":type": "spout",
        ":capacity": "0.0",
        ":latency": "12.5",
        ":transferred": 1000,
        ":stats": [{":host": "h", ":port": 6700, ":uptime_secs": 100, ":transferred": None}] * 2,
        ":link": "/component.html",
        ":inputs": [],
    },
    "split": {
        ":type": "bolt",
        ":capacity": "0.5",
        ":stats": [{":host": "h", ":port": 6700}] * 3,
        ":inputs": [
            {
                ":component": "lines",
                ":stream": "default",
                ":sani-stream": "default1544803905",
                ":grouping": "shuffle",
            }
        ],
    },
    "count": {
        ":type": "bolt",
        ":stats": [],
        ":inputs": [
            {":component": "split", ":stream": "default", ":grouping": "fields"},
            {":component": "split", ":stream": "control", ":grouping": "all"},
            {":component": "__system", ":stream": "__tick", ":grouping": "all"},
        ],
    },
    "__acker": {
        ":type": "bolt",
        ":inputs": [{":component": "lines", ":stream": "__ack_init", ":grouping": "fields"}],
    },
}
METRICS: dict[str, Any] = {
    "window": "600",
    "window-hint": "10m 0s",
    "spouts": [
        {
            "id": "lines",
            "emitted": [
                {"stream_id": "__metrics", "value": 20},
                {"stream_id": "default", "value": 1000},
            ],
            "transferred": [],
            "acked": [],
            "failed": [],
            "complete_ms_avg": [],
        }
    ],
    "bolts": [
        {
            "id": "split",
            "emitted": [
                {"stream_id": "default", "value": 4000},
                {"stream_id": "control", "value": 10},
                {"stream_id": "__ack_ack", "value": 1000},
            ],
            "executed": [{"component_id": "lines", "stream_id": "default", "value": 800}],
            "executed_ms_avg": [{"component_id": "lines", "stream_id": "default", "value": "0.05"}],
        },
        {
            "id": "count",
            "emitted": [],
            "executed": [
                {"component_id": "split", "stream_id": "default", "value": 4000},
                {"component_id": "split", "stream_id": "control", "value": 40},
                {"component_id": "__system", "stream_id": "__tick", "value": 7},
            ],
        },
    ],
}
PAGES: dict[str, Any] = {
    "lines": {
        "executorStats": [
            {"id": f"[{task}-{task}]", "host": "h", "emitted": 500, "executed": None}
            for task in (1, 2)
        ]
    },
    "split": {
        "executorStats": [
            {"id": f"[{task}-{task}]", "host": "h", "emitted": 1300, "executed": 266}
            for task in (9, 10, 11)
        ]
    },
    "count": {
        "executorStats": [
            {"id": f"[{task}-{task}]", "host": "h", "emitted": 0, "executed": executed}
            for task, executed in zip((12, 14, 15, 13), (1010, 1010, 1010, 1010), strict=True)
        ]
    },
}
TOPOLOGY: dict[str, Any] = {
    "id": "words-1-1",
    "name": "words",
    "uptimeSeconds": 200,
    "spouts": [{"spoutId": "lines", "executors": 2, "emitted": 1000}],
    "bolts": [
        {
            "boltId": "split",
            "executors": 3,
            "executeLatency": "0.048",
            "requestedMemOnHeap": 512.0,
            "requestedMemOffHeap": 0.0,
            "requestedGenericResourcesComp": "gpu.count=1.0",
        },
        {"boltId": "count", "executors": 4},
    ],
}
WHOLE: dict[str, Any] = {
    "visualization": VISUALIZATION,
    "metrics": METRICS,
    "topology": TOPOLOGY,
    "components": PAGES,
}
"""All documents about the topology."""
