"""Hand-written IBM Streams documents: applications in ADL and from streamsx."""

from typing import Any


def _primitive(index: int, name: str, inputs: str = "", outputs: str = "") -> str:
    return f"""
    <primitiveOperInstance definitionIndex="0" index="{index}" name="{name}">
      <inputPorts>{inputs}</inputPorts><outputPorts>{outputs}</outputPorts>
    </primitiveOperInstance>"""


def _port(kind: str, *ends: str, index: int = 0) -> str:
    """Return a port; each of `ends` is "operator index, port kind, port index"."""
    inside = ""
    for operator, port, number in (end.split() for end in ends):
        attributes = f'operIndex="{operator}" portKind="{port}" portIndex="{number}"'
        inside += f"<connection {attributes}/>"
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


def with_rules(*rules: tuple[int, str]) -> str:
    """Return an application whose operators, by index, have further elements."""
    text = ADL_PARALLEL
    for index, element in rules:
        begin = text.index(f'definitionIndex="0" index="{index}" name="')
        at = text.index(">", begin) + 1
        text = f"{text[:at]}{element}{text[at:]}"
    return text


ADL_ISOLATED = with_rules((0, '<partitions isolation="true"/>'))
ADL_PLACED = with_rules(
    (0, '<partitions><coLocation colocId="a"/><exLocation exlocId="b"/></partitions>'),
    (4, '<resources><poolLocation poolIndex="0"/></resources>'),
    (4, '<partitions><coLocation colocId="a"/></partitions>'),
    (2, '<partitions><exLocation exlocId="b"/></partitions>'),
).replace(
    "<composites>",
    '<hostpools><hostpool index="0" name="p"><tag name="fast"/></hostpool></hostpools><composites>',
    1,
)


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
STREAMSX_PLACED: dict[str, Any] = {
    "operators": [
        _streamsx("S", {}, {"S": ["i0"]}, kind="py::Source"),
        _streamsx("L", {"i0": ["S"]}, {"L": ["i1"]}, kind="$LowLatency$"),
        _streamsx("A", {"i1": ["L"]}, {"A": ["i2"]}, kind="py::Map"),
        _streamsx("E", {"i2": ["A"]}, {"E": ["i3"]}, kind="$EndLowLatency$"),
        _streamsx("B", {"i3": ["E"]}, {"B": ["i4"]}, kind="py::Map"),
        _streamsx("I", {"i4": ["B"]}, {"I": ["i5"]}, kind="$Isolate$"),
        {
            **_streamsx("K", {"i5": ["I"]}, {}, kind="py::ForEach"),
            "config": {"width": 2, "placement": {"resourceTags": ["fast"]}},
        },
    ],
}
