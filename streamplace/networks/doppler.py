"""Reader of the released computation graphs of DOPPLER (Yao et al., ICLR 2026).

Line 1 is the number of vertices and line 2 lists the input vertices. All other vertices are
operators, numbered from 0; lines 3 and 4 list the sources and targets of the streams. Each further
line has an operator's FLOPs, the cost of transferring its result and, in some files, its type.

FLOPs become instructions and transfer costs bytes, on devices of one instruction per second and
links of one byte per second. All times are then whole numbers, as in the published code. Figures
divided by 10^10 first are rounded, which changes the order of operators that are ready at once.
"""

import re
from collections.abc import Sequence

from streamplace.display.text import quoted
from streamplace.errors import FormatError
from streamplace.formats.format import Format, Signs
from streamplace.formats.logical_builder import check_links, equal_devices
from streamplace.problem.cluster import Device, Network
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.logical import LogicalGraph
from streamplace.util.text import counted

HEAD = 4  # lines before those of operators
DEVICE = Device("d0", mips=1e-6)
NETWORK = Network("free", bandwidth_mbps=8e-6, latency_s=0.0)
UNIT = (
    "instructions are FLOPs and a second is one FLOP, so that all times stay whole numbers; "
    "published figures are divided by 1e10"
)
_NUMBER = re.compile(r"[0-9]{1,15}", re.ASCII)  # exact as a double
_NO_SPACE = re.compile(r"[0-9]+,[0-9]+", re.ASCII)


def read(text: str, where: str) -> LogicalGraph:
    """Read a graph; operator i of the file is called ``op_i``.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the line and the fault.
    GraphError
        If it is not a graph without cycles.
    """
    lines = text.rstrip().splitlines()
    if len(lines) <= HEAD:
        raise FormatError(f"{where}: not a DOPPLER graph: expected at least {HEAD + 1} lines")
    total = _number(lines[0].strip(), f"{where}: line 1")
    inputs = _numbers(lines[1], f"{where}: line 2")
    operators = [
        _operator(f"op_{i}", line, f"{where}: line {HEAD + 1 + i}")
        for i, line in enumerate(lines[HEAD:])
    ]
    if total != len(inputs) + len(operators):
        raise FormatError(
            f"{where}: line 1: expected {len(inputs) + len(operators)}, the number of input "
            f"vertices in line 2 and of lines of costs together (got {total})"
        )
    ends = [_numbers(lines[i], f"{where}: line {i + 1}") for i in (2, 3)]
    if len(ends[0]) != len(ends[1]):
        raise FormatError(
            f"{where}: line 4: expected {len(ends[0])} targets, as many as line 3 has sources "
            f"(got {len(ends[1])})"
        )
    check_links(len(ends[0]), where)
    for i, indices in enumerate(ends, 3):
        _check_indices(indices, len(operators), f"{where}: line {i}")
    graph = StreamGraph(
        operators,
        [Stream(f"op_{a}", f"op_{b}") for a, b in zip(*ends, strict=True)],
        firing="all",
    )
    return LogicalGraph(graph, notes=_notes(lines, inputs), cluster=equal_devices(DEVICE, NETWORK))


def _operator(name: str, line: str, place: str) -> Operator:
    flops, *others = [part.strip() for part in line.split(",")]
    if len(others) not in (1, 2):
        raise FormatError(f"{place}: must be FLOPs,transfer[,type] (got {quoted(line)})")
    transfer, *kind = others
    return Operator(name, _number(flops, place), _number(transfer, place), type="".join(kind))


def _numbers(line: str, place: str) -> list[int]:
    """Return the numbers of a line; a comma after the last one is allowed."""
    parts = [part.strip() for part in line.split(",")]
    return [_number(part, place) for part in (parts if parts[-1] else parts[:-1])]


def _number(text: str, place: str) -> int:
    if not _NUMBER.fullmatch(text):
        must = "must be a whole number of at most 15 digits"
        raise FormatError(f"{place}: {must} (got {quoted(text)})")
    return int(text)


def _check_indices(indices: Sequence[int], count: int, place: str) -> None:
    wrong = next((index for index in indices if index >= count), None)
    if wrong is not None:
        raise FormatError(f"{place}: operators are numbered 0 to {count - 1} (got {wrong})")


def _notes(lines: Sequence[str], inputs: Sequence[int]) -> list[str]:
    """Return what is left out, and the edges that are probably wrong."""
    notes = [UNIT]
    if inputs:
        left = counted(len(inputs), "input")
        notes.append(f"left out: {left}, which are on every device from the start")
    for i in (2, 3):
        if ", " in lines[i]:  # two published files have edges in which this space is missing
            notes += [
                f"line {i + 1}: {found!r} lacks the space that separates other indices; "
                "the edge may be wrong"
                for found in _NO_SPACE.findall(lines[i])
            ]
    return notes


FORMAT = Format(
    "doppler",
    about="DOPPLER: a released computation graph, text, with a cluster of any size",
    read=read,
    signs=Signs(text=re.compile(r"\A\s*\d+\s*\n(?:\d+, *)+\n")),
    has_cluster=True,
    states_count=False,
)
