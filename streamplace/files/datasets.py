"""Datasets: a folder, .json, .jsonl or .jsonl.gz of graphs, or one .npz graph."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from streamplace.errors import FormatError
from streamplace.files.atomic import atomic
from streamplace.files.bounded import STDIO
from streamplace.files.bundled import resolve
from streamplace.files.graphs import graph_from, graph_to
from streamplace.files.jsonl import json_lines, read_json_lines
from streamplace.files.npz import read_columns, write_columns
from streamplace.files.reading import name_of, parse, read_text
from streamplace.problem.graph import StreamGraph

LINES = (".jsonl", ".jsonl.gz")
KEPT = 32  # graphs that need not be read twice
GRAPHS = (*LINES, ".json", ".json.gz", ".npz")


def read_graph(path: str | Path) -> StreamGraph:
    """Read the one graph of a file; ``-`` is stdin, ``dataset:…`` what streamplace ships.

    Raises
    ------
    FormatError
        If it cannot be read, or holds more than one.
    """
    graphs = iter_graphs(path)
    first = next(graphs, None)
    if first is None:
        raise FormatError(f"{name_of(path)}: holds no graph")
    if next(graphs, None) is not None:
        raise FormatError(f"{name_of(path)}: holds several graphs, and one is wanted")
    return first


def read_dataset(path: str | Path) -> list[StreamGraph]:
    """Read all graphs of a dataset.

    Raises
    ------
    FormatError
        If it cannot be read, or holds none.
    """
    graphs = list(iter_graphs(path))
    if not graphs:
        raise FormatError(f"{name_of(path)}: holds no graph")
    return graphs


class StoredGraphs:
    """The graphs of a dataset, read anew whenever they are gone through, unless they are few.

    Parameters
    ----------
    path
        Of a file or folder; not of a pipe, which is read once.

    Attributes
    ----------
    names
        Of the graphs, all of which were read once and found good.

    Raises
    ------
    FormatError
        If it cannot be read, or holds none; later on, if there are now other graphs in it.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = path
        self.names: list[str] = []
        self._kept: list[StreamGraph] = []
        for graph in iter_graphs(path):
            self.names.append(graph.name)
            if len(self.names) <= KEPT:
                self._kept.append(graph)
            else:
                self._kept.clear()
        if not self.names:
            raise FormatError(f"{name_of(path)}: holds no graph")

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[StreamGraph]:
        if self._kept:
            yield from self._kept
            return
        read = 0
        for name, graph in zip(self.names, iter_graphs(self._path), strict=False):
            if graph.name != name:
                break
            yield graph
            read += 1
        if read < len(self.names):
            raise FormatError(f"{name_of(self._path)}: was changed while it was read")


def open_dataset(path: str | Path) -> StoredGraphs | list[StreamGraph]:
    """Read all graphs of a dataset, and keep them only where they cannot be read again.

    Raises
    ------
    FormatError
        If it cannot be read, or holds none.
    """
    found = resolve(path)
    return StoredGraphs(path) if found.is_file() or found.is_dir() else read_dataset(path)


def iter_graphs(path: str | Path) -> Iterator[StreamGraph]:
    """Yield the graphs of a dataset one by one, in the order of the file or of the file names."""
    found = resolve(path)
    if found.is_dir():
        for member in files_of(found):
            yield from iter_graphs(member)
    elif found.name.endswith(".npz"):
        yield read_columns(found)
    else:
        for where, name, value in iter_values(found):
            yield graph_from(value, where, name)


def files_of(path: str | Path) -> list[Path]:
    """Return the files that a dataset is read from, in that order.

    Raises
    ------
    FormatError
        If a folder cannot be looked into.
    """
    found = resolve(path)
    return _members(found) if found.is_dir() else [found]


def iter_values(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Yield (place, name if it carries none, JSON value) of a text file, or stdin for ``-``."""
    where, stem = name_of(path), path.name.split(".")[0] or "graph"
    if path.name.endswith(LINES) and path.is_file():
        for number, (place, value) in enumerate(read_json_lines(path)):
            yield place, f"{stem}_{number}", value
        return
    text = read_text(path)
    if path.name.endswith(LINES) or (str(path) == STDIO and _is_lines(text)):
        for number, (place, value) in enumerate(json_lines(text.split("\n"), where)):
            yield place, f"{stem}_{number}", value
        return
    value = parse(text, where)
    if not isinstance(value, list):
        yield where, stem, value
        return
    for number, one in enumerate(value):
        yield f"{where}: [{number}]", f"{stem}_{number}", one


def write_dataset(path: str | Path, graphs: Iterable[StreamGraph]) -> None:
    """Write graphs: .jsonl or .jsonl.gz a line each; .json or .npz for a single one.

    Raises
    ------
    FormatError
        If the name ends otherwise, or the graphs do not fit.
    """
    name = Path(path).name
    if not name.endswith((*LINES, ".json", ".npz")) and str(path) != STDIO:
        raise FormatError(f"{path}: must end in .jsonl, .jsonl.gz, .json or .npz")
    with atomic(path) as file:
        if name.endswith((".json", ".npz")):
            one = list(islice(graphs, 2))
            if len(one) != 1:
                many = "several" if one else "none"
                raise FormatError(f"{path}: takes one graph, not {many}; .jsonl takes any number")
            if name.endswith(".npz"):
                write_columns(one[0], file)
            else:
                file.write(_json(one[0], indent=1))
        else:
            for graph in graphs:
                file.write(_json(graph))


def _members(folder: Path) -> list[Path]:
    try:
        members = sorted(folder.iterdir())
    except OSError as error:
        raise FormatError(f"{folder}: {error.strerror}") from None
    return [path for path in members if path.is_file() and path.name.endswith(GRAPHS)]


def _is_lines(text: str) -> bool:
    first, *others = [line for line in text.split("\n") if line.strip()] or [""]
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return bool(others)


def _json(graph: StreamGraph, indent: int | None = None) -> bytes:
    return json.dumps(graph_to(graph), indent=indent, ensure_ascii=False).encode() + b"\n"
