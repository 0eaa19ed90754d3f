"""Reader of PipeDream's profiles of neural networks (Narayanan et al., SOSP 2019), ``graph.txt``.

A line ``node1 -- Conv2d(…) -- forward_compute_time=1.5, backward_compute_time=…, activation_size=…,
parameter_size=…`` describes an operator, with times in milliseconds and sizes in bytes. A line that
starts with a tab, ``node1 -- node2``, is a stream.
"""

import re
from collections.abc import Iterator, Mapping

from streamplace.errors import FormatError
from streamplace.formats.format import Format, Signs
from streamplace.formats.logical_builder import MIPS, check_links, equal_devices
from streamplace.problem.cluster import Device, Network
from streamplace.problem.graph import UNKNOWN, Operator, Stream, StreamGraph
from streamplace.problem.logical import LogicalGraph
from streamplace.util.text import DECIMAL

BETWEEN = " -- "
TIME, BACKWARD = "forward_compute_time", "backward_compute_time"
ACTIVATION, PARAMETERS = "activation_size", "parameter_size"
KIND = "gpu"
DEVICE = Device("d0", MIPS, kind=KIND)
NETWORK = Network("free", bandwidth_mbps=96_000.0, latency_s=10e-6)
STAGE = " -- stage_id="
STAGES = "stage_id is left out: it is the stage in which PipeDream's optimizer put a node"
FORWARD = (
    f"the graph is the forward pass; {BACKWARD} is left out, and memory is that of parameters and "
    "one activation"
)


def read(text: str, where: str) -> LogicalGraph:
    """Read the forward pass of a profile.

    Operators keep the order of the file, and an edge that appears twice counts once.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the line and the fault.
    GraphError
        If it is not a graph without cycles.
    """
    operators: dict[str, Operator] = {}
    edges: dict[tuple[str, str], int] = {}  # ends -> the number of the first such line
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{where}: line {number}"
        if line.startswith("\t"):
            source, between, target = line.strip().partition(BETWEEN)
            if not between:
                raise FormatError(f"{place}: must be NODE -- NODE (got {line.strip()!r:.40})")
            edges.setdefault((source.strip(), target.strip()), number)
        elif line.strip():
            operator = _operator(line, place)
            if operator.name in operators:
                raise FormatError(f"{place}: node {operator.name!r:.40} appears twice")
            operators[operator.name] = operator
    if not operators:
        raise FormatError(f"{where}: contains no nodes, such as node1 -- ReLU() -- {TIME}=0.5, …")
    check_links(len(edges), where)
    for ends, number in edges.items():
        for end in ends:
            if end not in operators:
                raise FormatError(f"{where}: line {number}: unknown node {end!r:.40}")
    graph = StreamGraph(operators.values(), [Stream(*ends) for ends in edges], firing="all")
    notes = [FORWARD, *([STAGES] if STAGE in text else [])]
    return LogicalGraph(graph, notes=notes, cluster=equal_devices(DEVICE, NETWORK))


def _operator(line: str, place: str) -> Operator:
    parts = line.strip().split(BETWEEN)
    at = next((i for i, part in enumerate(parts) if part.startswith(f"{TIME}=")), 0)
    if at < 1:
        wanted = f"NODE -- DESCRIPTION -- {TIME}=…, …"
        raise FormatError(f"{place}: must be {wanted} (got {line.strip()!r:.40})")
    numbers = dict(_pairs(parts[at], place))
    activation = _bytes(numbers, ACTIVATION, place)
    return Operator(
        parts[0].strip(),
        UNKNOWN,
        activation,
        memory_bytes=_bytes(numbers, PARAMETERS, place) + activation,
        seconds_on={KIND: _number(numbers.get(TIME, ""), TIME, place) / 1000.0},
        type=BETWEEN.join(parts[1:at]).partition("(")[0].strip(),
    )


def _pairs(text: str, place: str) -> Iterator[tuple[str, str]]:
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals:
            raise FormatError(f"{place}: must be NAME=NUMBER (got {part.strip()!r:.40})")
        yield key.strip(), value.strip()


def _bytes(numbers: Mapping[str, str], name: str, place: str) -> float:
    """Return a size in bytes; ``[a; b]``, the sizes of several tensors, is their sum."""
    text = numbers.get(name, "")
    parts = text[1:-1].split(";") if text.startswith("[") and text.endswith("]") else [text]
    return sum(_number(part.strip(), name, place) for part in parts)


def _number(text: str, name: str, place: str) -> float:
    if not DECIMAL.fullmatch(text):
        wrong = f"must be a number (got {text!r:.40})" if text else "is missing"
        raise FormatError(f"{place}: {name} {wrong}")
    return float(text)


FORMAT = Format(
    "pipedream",
    about="PipeDream: a profile, graph.txt, with a cluster of any size",
    read=read,
    signs=Signs(text=re.compile(r" -- forward_compute_time=")),
    has_cluster=True,
    states_count=False,
)
