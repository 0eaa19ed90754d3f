"""A format: jobs as a list of operators and streams, and placements as a list of devices."""

import re

from streamplace import Operator, Placement, StreamGraph
from streamplace.errors import FormatError
from streamplace.formats import Format, Signs
from streamplace.problem.logical import LogicalGraph

HEAD = "toy job"
OPERATOR = re.compile(r"(\w+) (\d+) instructions (\d+) bytes")
STREAM = re.compile(r"(\w+) > (\w+)")


def read(text: str, where: str) -> LogicalGraph:
    """Return the graph of a job: a line per operator and per stream, after the head."""
    operators, streams = [], []
    for number, line in enumerate(text.splitlines()[1:], start=2):
        if operator := OPERATOR.fullmatch(line):
            operators.append(Operator(operator[1], float(operator[2]), float(operator[3])))
        elif stream := STREAM.fullmatch(line):
            streams.append((stream[1], stream[2]))
        else:
            raise FormatError(f"{where}: line {number}: is no operator and no stream")
    return LogicalGraph(StreamGraph(operators, streams))


def write(placement: Placement) -> str:
    """Return a line per operator with its device."""
    return "".join(f"{name} on {device}\n" for name, device in placement.assignment.items())


def rates(placement: Placement) -> str:
    """Return the sentence about what is lost."""
    return "the source rate is not in the file"


FORMAT = Format(
    "toy",
    about="toy: a job, text; export writes the device of each operator",
    read=read,
    write=write,
    signs=Signs(endings=(".toy",), text=re.compile(rf"\A{HEAD}\n")),
    comment="# ",
    losses=(rates,),
)
