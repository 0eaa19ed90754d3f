"""Graphs as .npz columns, for those too large to read as text."""

import io
import json
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from streamplace.errors import FormatError, GraphError
from streamplace.files.formats import ConstraintsForm
from streamplace.files.graphs import constraints_from, constraints_to
from streamplace.files.text import check, parse, read_bytes
from streamplace.graph import StreamGraph

FORMAT = "streamplace-graph-columns-1"
NUMBERS = ("instructions", "payload_bytes", "memory_bytes", "selectivity", "stream_payload_bytes")


def write_columns(graph: StreamGraph, file: IO[bytes]) -> None:
    """Write a graph as uncompressed .npz: the same graph gives the same bytes."""
    header = {
        "format": FORMAT,
        "name": graph.name,
        "source_rate": graph.source_rate,
        "requires": {str(v): list(labels) for v, labels in sorted(graph.requires.items())},
        "constraints": constraints_to(graph.constraints),
    }
    encoded = [name.encode() for name in graph.names]
    columns = {name: getattr(graph, name) for name in NUMBERS}
    np.savez(
        file,
        allow_pickle=False,
        header=_bytes(json.dumps(header).encode()),
        names=_bytes(b"".join(encoded)),
        name_lengths=np.array([len(name) for name in encoded], dtype=np.int32),
        ends=np.stack([graph.stream_source, graph.stream_target], axis=1),
        source_share=graph.source_share,
        **columns,
    )


def read_columns(path: str | Path) -> StreamGraph:
    """Read a graph from .npz columns.

    Raises
    ------
    FormatError
        Naming the file and the fault.
    """
    where = str(path)
    data = read_bytes(path)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            columns = {name: stored[name] for name in stored.files}
        header = parse(columns["header"].tobytes().decode(), where)
        if header.get("format") != FORMAT:
            raise FormatError(f"{where}: not a streamplace graph")
        ends = np.cumsum(columns["name_lengths"]).tolist()
        blob = columns["names"].tobytes()
        names = [blob[a:b].decode() for a, b in zip([0, *ends], ends, strict=False)]
        share = columns["source_share"]
        sources = np.setdiff1d(np.arange(len(names)), columns["ends"][:, 1])
        constraints = check(ConstraintsForm, header["constraints"], where)
        return StreamGraph.from_columns(
            names,
            columns["instructions"],
            columns["payload_bytes"],
            columns["ends"],
            memory_bytes=columns["memory_bytes"],
            requires={int(v): tuple(labels) for v, labels in header["requires"].items()},
            selectivity=columns["selectivity"],
            stream_payload_bytes=columns["stream_payload_bytes"],
            name=header["name"],
            source_rate=header["source_rate"],
            source_shares={names[v]: float(share[v]) for v in sources},
            constraints=constraints_from(constraints),
        )
    except (GraphError, FormatError) as error:
        said = str(error).removeprefix(f"{where}: ")
        raise FormatError(f"{where}: {said}") from None
    except Exception as error:  # whatever numpy and zipfile make of a broken archive
        raise FormatError(f"{where}: not a readable .npz graph: {_one_line(error)}") from None


def _bytes(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, dtype=np.uint8)


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
