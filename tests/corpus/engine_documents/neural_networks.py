"""Hand-written graphs of neural networks, in the formats of their sources."""

import json
from typing import Any

DOPPLER = """\
6
0, 1,
0, 0, 1, 2,
1, 2, 3, 3
100,400,einsummable
30,120,formation
20,80
5,20,complexer
"""
DNN: dict[str, Any] = {
    "maxSizePerFPGA": 1000.0,
    "maxFPGAs": 2,
    "maxCPUs": 1,
    "nodes": [
        {
            "id": 7,
            "name": "a",
            "supportedOnFpga": 1,
            "cpuLatency": 10.0,
            "fpgaLatency": 1.0,
            "isBackwardNode": False,
            "colorClass": 3,
            "size": 600.0,
        },
        {
            "id": 8,
            "name": "a",
            "supportedOnFpga": False,
            "cpuLatency": 4,
            "fpgaLatency": 0,
            "isBackwardNode": False,
            "size": 0,
        },
        {
            "id": 9,
            "name": "b",
            "supportedOnFpga": True,
            "cpuLatency": 20.0,
            "fpgaLatency": 2.0,
            "isBackwardNode": True,
            "colorClass": 3,
            "size": 300.0,
        },
    ],
    "edges": [
        {"sourceId": 7, "destId": 8, "cost": 0.5, "size": 8.0},
        {"sourceId": 7, "destId": 9, "cost": 0.5, "size": 8.0},
        {"sourceId": 8, "destId": 9, "cost": 0.25, "size": 8.0},
        {"sourceId": 8, "destId": 9, "cost": 0.25, "size": 8.0},
    ],
}
TIMES = "forward_compute_time={}, backward_compute_time={}, activation_size={}, parameter_size={}"
PIPEDREAM = "\n".join(
    (
        "node1 -- Input0 -- " + TIMES.format("0.000", "0.000", "0.0", "0.000"),
        "node2 -- Conv2d(3, 64, kernel_size=(11, 11), bias=False) -- "
        + TIMES.format("1.500", "2.000", "4096.000", "512.000")
        + " -- stage_id=0",
        "node3 -- LSTM(64, 8) -- " + TIMES.format("0.250", "0.500", "[64.0; 8.0; 8.0]", "2048.000"),
        "\tnode1 -- node2",
        "\tnode2 -- node3",
        "\tnode1 -- node3",
        "\tnode2 -- node3",
        "",
    )
)
OPENVINO = """\
<?xml version="1.0"?>
<net name="tiny" version="11">
  <layers>
    <layer id="0" name="x" type="Parameter" version="opset1">
      <data shape="1,3,8,8" element_type="f32"/>
      <output><port id="0" precision="FP32" names="x">
        <dim>1</dim><dim>3</dim><dim>8</dim><dim>8</dim></port></output>
    </layer>
    <layer id="1" name="w" type="Const" version="opset1">
      <data element_type="f16" shape="4, 3, 3, 3" offset="0" size="216"/>
      <output><port id="0" precision="FP16">
        <dim>4</dim><dim>3</dim><dim>3</dim><dim>3</dim></port></output>
    </layer>
    <layer id="2" name="w32" type="Convert" version="opset1">
      <data destination_type="f32"/>
      <input><port id="0" precision="FP16">
        <dim>4</dim><dim>3</dim><dim>3</dim><dim>3</dim></port></input>
      <output><port id="1" precision="FP32">
        <dim>4</dim><dim>3</dim><dim>3</dim><dim>3</dim></port></output>
    </layer>
    <layer id="3" name="conv" type="Convolution" version="opset1">
      <data strides="1, 1" dilations="1, 1" pads_begin="0, 0" pads_end="0, 0"/>
      <input>
        <port id="0"><dim>1</dim><dim>3</dim><dim>8</dim><dim>8</dim></port>
        <port id="1"><dim>4</dim><dim>3</dim><dim>3</dim><dim>3</dim></port>
      </input>
      <output><port id="2" precision="FP32">
        <dim>1</dim><dim>4</dim><dim>6</dim><dim>6</dim></port></output>
    </layer>
    <layer id="4" name="pool" type="MaxPool" version="opset8">
      <data strides="2, 2" kernel="2, 2"/>
      <input><port id="0"><dim>1</dim><dim>4</dim><dim>6</dim><dim>6</dim></port></input>
      <output><port id="1" precision="FP32">
        <dim>1</dim><dim>4</dim><dim>3</dim><dim>3</dim></port></output>
    </layer>
    <layer id="5" name="out" type="Result" version="opset1">
      <input><port id="0"><dim>1</dim><dim>4</dim><dim>3</dim><dim>3</dim></port></input>
    </layer>
  </layers>
  <edges>
    <edge from-layer="0" from-port="0" to-layer="3" to-port="0"/>
    <edge from-layer="1" from-port="0" to-layer="2" to-port="0"/>
    <edge from-layer="2" from-port="1" to-layer="3" to-port="1"/>
    <edge from-layer="3" from-port="2" to-layer="4" to-port="0"/>
    <edge from-layer="4" from-port="1" to-layer="5" to-port="0"/>
  </edges>
</net>
"""
DNN_TEXT = json.dumps(DNN)


def stateful(shape: str = "<dim>4</dim><dim>8</dim>", write: str = "v") -> str:
    """Return a model that adds its input to the state ``v`` and emits the product with it."""
    port = f'<port id="0" precision="FP32">{shape}</port>'
    layers = {
        "x": ("Parameter", "", port.replace('id="0"', 'id="2"')),
        "past": ("ReadValue", '<data variable_id="v"/>', port.replace('id="0"', 'id="2"')),
        "sum": ("Add", "", f"{port}{port.replace('0', '1', 1)}"),
        "store": ("Assign", f'<data variable_id="{write}"/>', port),
        "out": ("Result", "", port),
    }
    parts = []
    for number, (name, (kind, data, ports)) in enumerate(layers.items()):
        inputs = ports if kind not in ("Parameter", "ReadValue") else ""
        output = port.replace('id="0"', 'id="2"') if kind not in ("Assign", "Result") else ""
        parts.append(
            f'<layer id="{number}" name="{name}" type="{kind}">{data}<input>{inputs}</input>'
            f"<output>{output}</output></layer>"
        )
    ends = [(0, 2, 0), (1, 2, 1), (2, 3, 0), (2, 4, 0)]
    edges = [
        f'<edge from-layer="{a}" from-port="2" to-layer="{b}" to-port="{port}"/>'
        for a, b, port in ends
    ]
    body = f"<layers>{''.join(parts)}</layers><edges>{''.join(edges)}</edges>"
    return f'<net name="n" version="11">{body}</net>'


OPENVINO_STATE = stateful()


def enclosing(kind: str, **bodies: str) -> str:
    """Return a model of a layer ``inner`` with bodies, which are given as models."""
    port = '<port id="{}" precision="FP32"><dim>1</dim><dim>6</dim></port>'
    parts = [
        f"<{name}>{text[text.index('<layers>') : -6]}</{name}>" for name, text in bodies.items()
    ]
    layers = (
        f'<layer id="0" name="x" type="Parameter"><output>{port.format(0)}</output></layer>'
        f'<layer id="1" name="inner" type="{kind}"><input>{port.format(0)}</input>'
        f"<output>{port.format(1)}</output>{''.join(parts)}</layer>"
        f'<layer id="2" name="y" type="Result"><input>{port.format(0)}</input></layer>'
    )
    edges_of = (
        '<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'
        '<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>'
    )
    inside = f"<layers>{layers}</layers><edges>{edges_of}</edges>"
    return f'<net name="outer" version="11">{inside}</net>'


OPENVINO_LOOP = enclosing("Loop", body=OPENVINO.strip()).replace(
    "<dim>1</dim><dim>6</dim>", "<dim>-1</dim><dim>6</dim>"
)
"""A model with a body, and an input of which a dimension is open."""
