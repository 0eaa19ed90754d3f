"""One small document of each kind, to read and to spoil; written by hand, of no real run."""

import json
from typing import Any

from benchmarks.hardening.documents import DREAM

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
TOPOLOGY: dict[str, Any] = {
    "id": "words-1-1",
    "name": "words",
    "uptimeSeconds": 200,
    "spouts": [{"spoutId": "lines", "executors": 2, "emitted": 1000}],
    "bolts": [
        {"boltId": "split", "executors": 3, "executeLatency": "0.048"},
        {"boltId": "count", "executors": 4},
    ],
}


def _primitive(index: int, name: str, inputs: str = "", outputs: str = "") -> str:
    return f"""
    <primitiveOperInstance definitionIndex="0" index="{index}" name="{name}">
      <inputPorts>{inputs}</inputPorts><outputPorts>{outputs}</outputPorts>
    </primitiveOperInstance>"""


def _port(kind: str, *ends: str, index: int = 0) -> str:
    """Return a port; an end is the operator's index, the kind of its port and that one's index."""
    inside = ""
    for operator, port, number in (end.split() for end in ends):
        told = f'operIndex="{operator}" portKind="{port}" portIndex="{number}"'
        inside += f"<connection {told}/>"
    return f'<port index="{index}"><{kind}>{inside}</{kind}></port>'


_A = _primitive(
    1,
    "Outer.Inner.A",
    _port("connections", "7 input 0"),
    _port("connections", "7 output 0"),
)
_B = _A.replace('index="1" name="Outer.Inner.A"', 'index="2" name="Outer.Inner.B"')
ADL = f"""<?xml version="1.0" encoding="UTF-8" standalone="no" ?>
<applicationSet xmlns="http://www.ibm.com/xmlns/prod/streams/application/v4200" name="set">
  <splApplication name="my::Main"><composites><compositeOperInstances>
  <compositeOperInstance index="9" name="my::Main">
    <compositeOperInstance index="8" name="Outer">
      <inputPorts>{_port("outgoingConnections", "7 input 0")}</inputPorts>
      <outputPorts>{_port("outgoingConnections", "4 input 0", "3 input 1")}</outputPorts>
      <compositeOperInstance index="7" name="Outer.Inner">
        <inputPorts>{_port("outgoingConnections", "1 input 0", "2 input 0")}</inputPorts>
        <outputPorts>{_port("outgoingConnections", "8 output 0")}</outputPorts>
        {_A}{_B}
      </compositeOperInstance>
    </compositeOperInstance>
    {_primitive(0, "Source", "", _port("connections", "8 input 0", "3 input 0"))}
    {_primitive(3, "Join", "", _port("connections", "5 input 0"))}
    {_primitive(4, "Sink")}
    <primitiveExportOperInstance index="5" name="Out"/>
  </compositeOperInstance>
  </compositeOperInstances></composites></splApplication>
</applicationSet>
"""
ADL_PARALLEL = f"""<applicationSet><splApplication name="par"><composites>
  <compositeOperInstances><compositeOperInstance index="20" name="par">
    <compositeOperInstance index="10" name="P">
      <inputPorts>{_port("outgoingConnections", "1 input 0")}</inputPorts>
      <outputPorts>{_port("outgoingConnections", "3 input 0", "4 input 0")}</outputPorts>
      {_primitive(1, "P.A", "", _port("connections", "2 input 0"))}
      {_primitive(2, "P.B", "", _port("connections", "10 output 0"))}
    </compositeOperInstance>
    {_primitive(0, "Source", "", _port("connections", "10 input 0"))}
    {_primitive(3, "Keyed", "", _port("connections", "4 input 1"))}
    {_primitive(4, "Sink")}
  </compositeOperInstance></compositeOperInstances></composites>
  <parallelRegions>
    <parallelRegion index="0" name="P">
      <parallelOperator operIndex="10">
        <splitter iportIndex="0" kind="RoundRobin"/>
      </parallelOperator>
      <parallelWidth><constantWidth>3</constantWidth></parallelWidth>
    </parallelRegion>
    <parallelRegion index="1" name="P.B">
      <parallelOperator operIndex="2">
        <splitter iportIndex="0" kind="Broadcast"/>
      </parallelOperator>
      <parallelWidth><constantWidth>2</constantWidth></parallelWidth>
    </parallelRegion>
    <parallelRegion index="2" name="Keyed">
      <parallelOperator operIndex="3">
        <splitter iportIndex="0" kind="Hash"/>
      </parallelOperator>
      <parallelWidth><constantWidth>2</constantWidth></parallelWidth>
    </parallelRegion>
    <parallelRegion index="3" name="Sink">
      <parallelOperator operIndex="4"/>
      <parallelWidth>
        <submissionTimeParameterIndexForWidth>0</submissionTimeParameterIndexForWidth>
      </parallelWidth>
    </parallelRegion>
  </parallelRegions>
</splApplication></applicationSet>
"""


def _streamsx(
    name: str, inputs: dict[str, list[str]], outputs: dict[str, list[str]], *tags: str, kind: str
) -> dict[str, Any]:
    return {
        "name": name,
        "kind": kind,
        "inputs": [{"name": port, "connections": ends} for port, ends in inputs.items()],
        "outputs": [{"name": port, "connections": ends} for port, ends in outputs.items()],
        "config": {"placement": {"colocateTags": list(tags)}} if tags else {},
    }


STREAMSX: dict[str, Any] = {
    "name": "words",
    "namespace": "sx",
    "operators": [
        _streamsx("S", {}, {"S": ["i0", "i1"]}, kind="py::Source"),
        _streamsx("T", {}, {"T": ["i1"]}, "t", kind="py::Source"),
        _streamsx("U", {"i1": ["S", "T"]}, {"U": ["i2"]}, kind="$Union$"),
        _streamsx("M", {"i0": ["S"]}, {"M": ["i3"]}, "t", "alone", kind="py::Map"),
        _streamsx("K", {"i2": ["U"], "i3": ["M"]}, {}, "t", kind="py::ForEach"),
    ],
}

KAFKA = """\
some line of a log
Topologies:
   Sub-topology: 0
    Source: lines (topics: [text, more])
      --> split
    Processor: split (stores: [])
      --> filter, peek
      <-- lines
    Processor: filter (stores: [a-store, b-store])
      --> by-word
      <-- split
    Processor: peek (stores: [])
      --> none
      <-- split
    Sink: by-word (topic: words)
      <-- filter

  Sub-topology: 1
    Source: words-in (topics: [words])
      --> count
    Processor: count (stores: [counts])
      --> out
      <-- words-in
    Sink: out (topic: counts)
      <-- count

"""
KAFKA_OLD = """\
Sub-topologies:
Sub-topology: 0
    Source: lines (topics: [text]) --> split, peek
    Processor: split (stores: []) --> by-word <-- lines
    Processor: peek (stores: []) --> none <-- lines
    Sink: by-word (topic: words) <-- split
Sub-topology: 1
    Source: words-in (topics: [words]) --> out
    Sink: out (topic: counts) <-- words-in
"""

GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="instructions" attr.type="double"><default>50</default></key>
  <key id="d1" for="node" attr.name="colour" attr.type="string"/>
  <key id="d2" for="edge" attr.name="selectivity" attr.type="double"/>
  <key id="d3" for="node" attr.name="requires" attr.type="string"/>
  <key id="d4" for="graph" attr.name="source_rate" attr.type="double"/>
  <graph edgedefault="directed">
    <data key="d4">1e3</data>
    <node id="a"><data key="d0">100.5</data><data key="d1">red</data></node>
    <node id="b"><data key="d3">["gpu"]</data></node>
    <edge source="a" target="b"><data key="d2">0.25</data></edge>
    <edge source="a" target="b"/>
  </graph>
</graphml>
"""

DOT = r"""
/* drawn by hand */
digraph "a job" {
  graph [source_rate=1000, rankdir=LR]; rankdir = TB
  node [instructions=50, shape=box]
  edge [selectivity=".5"]
  # a line of a preprocessor
  a [instructions="100.5", label=<<b>A</b>>]; // the first
  subgraph cluster_0 {
    node [payload_bytes=8]
    label = inside
    b; "c \"quoted\" \\" [requires="[\"gpu\"]"]
  }
  a:out:s -> {b "c \"quoted\" \\"} -> d [selectivity=2, color=red]
  a -> "lo" + "ng"
}
"""

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
DOCUMENTS: dict[str, tuple[str, ...]] = {
    "flink-plan": (
        json.dumps(FLINK_RUNNING),
        json.dumps(FLINK_EXECUTION),
        "== Physical Execution Plan ==\n" + json.dumps(FLINK_EXECUTION, indent=2) + "\n",
    ),
    "storm-flux": (FLUX,),
    "storm-ui": (
        json.dumps(VISUALIZATION),
        json.dumps(METRICS),
        json.dumps({"visualization": VISUALIZATION, "metrics": METRICS, "topology": TOPOLOGY}),
    ),
    "ibm-adl": (ADL, ADL_PARALLEL),
    "ibm-streamsx": (json.dumps(STREAMSX),),
    "kafka-streams": (KAFKA, KAFKA_OLD),
    "dream": (json.dumps(DREAM),),
    "cepsim": (json.dumps(DREAM),),
    "graphml": (GRAPHML,),
    "dot": (DOT,),
}
"""Kind -> good documents; fuzzing spoils them."""
