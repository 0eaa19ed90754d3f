"""Graphs as .npz columns, for graphs too large to read as text."""

import io
import json
import math
import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from types import GenericAlias
from typing import IO, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, create_model

from streamplace.errors import FormatError, GraphError, located
from streamplace.files.bounded import refuse_bomb
from streamplace.files.graphs import constraints_from, constraints_to
from streamplace.files.own import KINDS
from streamplace.files.reading import check, name_of, parse, read_bytes, refuse_empty
from streamplace.files.schema import STORED, ConstraintsForm, Form, Positive, Title
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import Firing, Multicast, ends_of
from streamplace.problem.operators import (
    OPERATOR_DETAILS,
    OPERATOR_NUMBERS,
    STREAM_DETAILS,
    STREAM_NUMBERS,
    Detail,
    plain,
)

SUFFIX = ".npy"
MAGIC = b"\x93NUMPY\x01\x00"  # format 1.0, which numpy uses for arrays of numbers
HEADER = re.compile(
    rb"\{'descr': '(?P<dtype>[<>|=]?[biufc]\d{1,2})', 'fortran_order': (?P<by_column>True|False), "
    rb"'shape': \((?P<shape>(\d{1,19}(, \d{1,19})*,?)?)\), \}\s*"
)
"""The form of a header. Unlike in numpy, headers are never evaluated as Python."""
BROKEN = (  # the errors that zipfile, zlib and numpy raise for a broken archive
    ValueError,
    OSError,
    EOFError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)
MAX_MESSAGE = 80  # characters
NUMBERS = sorted((*OPERATOR_NUMBERS, *STREAM_NUMBERS), key=lambda field: field.added)
COLUMNS = {  # name: dtype, number of axes
    "header": ("uint8", 1),
    "names": ("uint8", 1),
    "name_lengths": ("int32", 1),
    "ends": ("int32", 2),
    "source_share": ("float64", 1),
    **{field.column: ("float64", 1) for field in NUMBERS},
}
PLACEMENT, DEVICES = "placement", "devices"
PLACED = {PLACEMENT: ("uint8", 1), DEVICES: ("int32", 1)}
"""The columns that a placement has beside those of its graph; see `placement_columns`."""
OPTIONAL = {field.column: field.default for field in NUMBERS if field.added}
"""Columns that are written only if some value differs from its default, and that default."""
DETAILS = (*OPERATOR_DETAILS, *STREAM_DETAILS)
Index = Annotated[str, Field(pattern=r"^\d{1,9}$")]
_DETAILS: dict[str, Any] = {
    field.column: (GenericAlias(dict, (Index, STORED[field.kind])), Field({}))
    for field in DETAILS
    if isinstance(field.kind, Detail)
}


def read_arrays(data: bytes) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of an .npz by name. Nothing in it is executed.

    Raises
    ------
    ValueError
        If it is not an .npz of numbers, or is a bomb: its headers promise more bytes than it has,
        or its members unzip to far more than their size; see `bounded.refuse_bomb`.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            refuse_bomb(sum(member.file_size for member in members), len(data))
            names = [member.filename.removesuffix(SUFFIX) for member in members]
            if len(set(names)) < len(names):
                raise ValueError("two arrays have the same name")
            return {
                name: _array(archive.read(member))
                for name, member in zip(names, members, strict=True)
            }
    except BROKEN as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = " ".join(reason.split()) or type(error).__name__
        raise ValueError(message[:MAX_MESSAGE]) from None


def _array(data: bytes) -> NDArray[np.generic]:
    header_start = len(MAGIC) + 2
    data_start = header_start + int.from_bytes(data[len(MAGIC) : header_start], "little")
    header = HEADER.fullmatch(data, header_start, data_start) if data.startswith(MAGIC) else None
    if header is None:
        raise ValueError("an array's header is not one that numpy writes for numbers")
    dtype = np.dtype(header["dtype"].decode())
    shape = tuple(int(length) for length in header["shape"].split(b",") if length)
    if math.prod(shape) * dtype.itemsize != len(data) - data_start:
        raise ValueError(f"an array of shape {shape} cannot have {len(data) - data_start:,} bytes")
    array = np.frombuffer(data, dtype, offset=data_start)
    return array.reshape(shape, order="F" if header["by_column"] == b"True" else "C")


class _Header(Form):
    """What is not a column; each detail of operators and streams is a field, too."""

    format: Literal["streamplace-graph-columns-1"] = "streamplace-graph-columns-1"
    name: Title = ""
    source_rate: Positive | None = None
    firing: Firing = "each"
    multicast: Multicast = "none"
    constraints: ConstraintsForm = ConstraintsForm()


_FullHeader = create_model("_FullHeader", __base__=_Header, **_DETAILS)


def write_columns(
    graph: StreamGraph, file: IO[bytes], placed: Mapping[str, NDArray[np.generic]] | None = None
) -> None:
    """Write a graph as uncompressed .npz; the same graph always gives the same bytes.

    Parameters
    ----------
    placed
        The columns `PLACED` of a placement of the graph; None: of the graph only.
    """
    header: dict[str, Any] = {
        "format": _Header.model_fields["format"].default,
        "name": graph.name,
        "source_rate": graph.source_rate,
        "requires": {str(v): list(labels) for v, labels in sorted(graph.requires.items())},
        "constraints": constraints_to(graph.constraints),
    }
    for detail in DETAILS:
        if detail.column not in header and (several := getattr(graph, detail.column)):
            header[detail.column] = {str(v): plain(value) for v, value in sorted(several.items())}
    header |= graph.semantics
    encoded = [name.encode() for name in graph.names]
    own: dict[str, NDArray[np.generic]] = {
        "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
        "names": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        "name_lengths": np.array([len(name) for name in encoded], dtype=np.int32),
        "ends": np.stack([graph.stream_source, graph.stream_target], axis=1),
    }
    columns = {name: own[name] if name in own else getattr(graph, name) for name in COLUMNS}
    for name, default in OPTIONAL.items():
        if (columns[name] == default).all():
            del columns[name]
    columns |= placed or {}
    np.savez(file, **columns)  # type: ignore[arg-type]  # no column has the name of an option


def read_columns(path: str | Path, *, placed: bool = False) -> StreamGraph:
    """Read a graph from .npz columns. Nothing in the file is executed.

    Parameters
    ----------
    placed
        Whether the file may also be a placement, whose graph is then read.

    Raises
    ------
    FormatError
        If the file does not hold a graph; the message names the file and the fault.
    """
    where = name_of(path)
    columns = load_columns(path)
    if PLACEMENT in columns and not placed:
        raise FormatError(f"{where}: is {KINDS['streamplace-placement']}; a graph is expected")
    with located(where, FormatError):
        text = text_of(columns["header"], "header")
        header = check(
            _FullHeader, parse(text, f"{where}: header", is_line=True), f"{where}: header"
        )
        names = names_of(columns)
        ends, share = columns["ends"], columns["source_share"]
        if ends.shape[1:] != (2,) or share.shape != (len(names),):
            raise GraphError("ends must have shape (streams, 2), and source_share (operators,)")
        is_source = np.bincount(ends_of(ends, len(names))[:, 1], minlength=len(names)) == 0
        if share[~is_source].any():
            raise GraphError("source_share: must be 0 for operators with inputs")
        details: dict[str, Any] = {
            detail.column: {int(v): value for v, value in getattr(header, detail.column).items()}
            for detail in DETAILS
        }
        if any(v >= len(names) or not labels for v, labels in details["requires"].items()):
            raise GraphError("header: requires: unknown operator, or an operator without labels")
        numbers: dict[str, Any] = {field.column: columns.get(field.column) for field in NUMBERS}
        return StreamGraph.from_columns(
            names,
            ends=ends,
            **numbers,
            **details,
            name=header.name,
            source_rate=header.source_rate,
            source_shares={names[v]: float(share[v]) for v in np.flatnonzero(is_source)},
            constraints=constraints_from(header.constraints),
            firing=header.firing,
            multicast=header.multicast,
        )


def load_columns(path: str | Path) -> dict[str, NDArray[np.generic]]:
    """Return the columns of a graph or placement, checked for dtype and number of axes.

    Raises
    ------
    FormatError
        If the file lacks one of them, or has others; the message names the file and the fault.
    """
    where = name_of(path)
    data = read_bytes(path)
    refuse_empty(data, where)
    try:
        columns = read_arrays(data)
    except ValueError as error:
        raise FormatError(f"{where}: not a readable .npz graph: {error}") from None
    is_placed = not PLACED.keys().isdisjoint(columns)
    expected = COLUMNS | PLACED if is_placed else COLUMNS
    if wrong := sorted((expected.keys() ^ columns.keys()) - (OPTIONAL.keys() - columns.keys())):
        kind = "missing" if wrong[0] in expected else "unknown"
        what = "placement" if is_placed else "graph"
        raise FormatError(f"{where}: not an .npz of a {what}: {kind} column {wrong[0]!r:.40}")
    for name, found in columns.items():
        dtype, axes = expected[name]
        if found.dtype != dtype or found.ndim != axes:
            plural = "axis" if axes == 1 else "axes"
            raise FormatError(f"{where}: column {name!r} must be {dtype} with {axes} {plural}")
    return columns


def names_of(columns: Mapping[str, NDArray[np.generic]]) -> list[str]:
    """Return the names of the operators.

    Raises
    ------
    GraphError
        If the columns do not fit together, or are not UTF-8.
    """
    blob, lengths = columns["names"], columns["name_lengths"]
    if lengths.astype(np.int64).min(initial=0) < 0 or lengths.sum(dtype=np.int64) != len(blob):
        raise GraphError("name_lengths: must add up to the length of names")
    ends = np.cumsum(lengths, dtype=np.int64).tolist()
    data = blob.tobytes()
    try:
        return [data[a:b].decode() for a, b in zip([0, *ends], ends, strict=False)]
    except UnicodeDecodeError:
        raise GraphError("names: is not UTF-8") from None


def text_of(column: NDArray[np.generic], what: str) -> str:
    """Return a column of bytes as text.

    Raises
    ------
    GraphError
        If it is not UTF-8; the message names `what`.
    """
    try:
        return column.tobytes().decode()
    except UnicodeDecodeError:
        raise GraphError(f"{what}: is not UTF-8") from None
