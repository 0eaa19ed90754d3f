"""Datasets, own and shipped: a folder, a .json, .jsonl or .jsonl.gz file, or a graph as .npz."""

import json
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from streamplace.errors import FormatError
from streamplace.files.bounded import read_failure
from streamplace.files.graphs import graph_from, graph_to
from streamplace.files.json_text import json_lines, json_pieces, read_json_lines
from streamplace.files.npz import read_columns, write_columns
from streamplace.files.reading import STDIO, name_of, parse, read_text
from streamplace.files.writing import atomic
from streamplace.problem.graph import StreamGraph
from streamplace.util.checks import check_type
from streamplace.util.suggest import candidates, closest_match

PREFIX = "dataset:"
FOLDERS = ("real", "networks")
"""Folders of graphs."""
LINES = (".jsonl", ".jsonl.gz")
KEPT_GRAPHS, KEPT_OPERATORS = 32, 100_000  # datasets with more of both are read at every iteration
GRAPHS = (*LINES, ".json", ".json.gz", ".npz")


def shipped_folder() -> Path:
    """Return the folder of shipped datasets."""
    package = Path(__file__).resolve().parent.parent
    in_wheel = package / "datasets"
    return in_wheel if in_wheel.is_dir() else package.parent / "datasets"


def resolve(path: str | Path) -> Path:
    """Return the path of a file; ``dataset:real/x.json`` is a file that comes with streamplace.

    Raises
    ------
    FormatError
        If there is no such dataset, or the path is not a valid file name.
    """
    text = str(path)
    if path == "":  # as a Path it would be the current folder
        raise FormatError("'': no such file or folder")
    if not text.startswith(PREFIX):
        _check_path(text)
        return Path(path)
    folder = shipped_folder()
    found = (folder / text.removeprefix(PREFIX)).resolve()
    if text == PREFIX or not (found.exists() and found.is_relative_to(folder.resolve())):
        names = (*FOLDERS, *shipped_names())
        # without the prefix, which would make all names similar
        meant = closest_match(text.removeprefix(PREFIX), names)
        choices = ", ".join(dataset_choices())
        message = f"choose from {choices}" if meant is None else f"did you mean {PREFIX + meant!r}?"
        raise FormatError(f"{text}: no such dataset; {message}")
    return found


def shipped_names() -> list[str]:
    """Return the names of shipped graphs, without the prefix."""
    folder = shipped_folder()
    return [
        path.relative_to(folder).as_posix()
        for each in FOLDERS
        for path in sorted(folder.glob(f"{each}/*.json"))
    ]


def dataset_choices() -> list[str]:
    """Return the names of shipped folders and graphs as users type them."""
    return [PREFIX + name for name in (*FOLDERS, *shipped_names())]


def _check_path(text: str) -> None:
    try:
        Path(text).exists()  # raises if the name is too long or a folder may not be entered
    except (OSError, ValueError) as error:
        raise FormatError(f"{text}: {read_failure(error)}") from None


def read_graph(path: str | Path) -> StreamGraph:
    """Read the single graph of a file, or one of many as ``FILE:NAME``.

    ``-`` is stdin, and ``dataset:…`` comes with streamplace.

    Raises
    ------
    FormatError
        If the file cannot be read, or does not hold exactly one graph.
    """
    graphs = iter_graphs(path)
    first = next(graphs, None)
    if first is None:
        raise FormatError(f"{name_of(path)}: holds no graph")
    if next(graphs, None) is not None:
        several = "contains several graphs (expected one); `compare` accepts several"
        if resolve(path).exists():
            several += f", and {path}:{first.name} is one of them"
        raise FormatError(f"{name_of(path)}: {several}")
    if (found := resolve(path)).is_file():
        first.file = os.path.abspath(found)
    return first


def read_dataset(path: str | Path) -> list[StreamGraph]:
    """Read all graphs of a dataset.

    Raises
    ------
    FormatError
        If the dataset cannot be read, or holds no graph.
    """
    graphs = list(iter_graphs(path))
    if not graphs:
        raise FormatError(f"{name_of(path)}: holds no graph")
    return graphs


class StoredGraphs:
    """The graphs of a dataset: few or small ones are kept, others are read again each time.

    Parameters
    ----------
    path
        Path of a file or folder; not of a pipe, which can be read only once.

    Attributes
    ----------
    names
        Names of the graphs, all of which were read once and are valid.

    Raises
    ------
    FormatError
        If the dataset cannot be read, or holds no graph; during an iteration, if its graphs have
        changed.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = path
        self.names: list[str] = []
        self._kept: list[StreamGraph] = []
        operators = 0
        for graph in iter_graphs(path):
            self.names.append(graph.name)
            operators += len(graph.names)
            if len(self.names) <= KEPT_GRAPHS or operators <= KEPT_OPERATORS:
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
            raise FormatError(f"{name_of(self._path)}: changed while it was read")


def open_dataset(path: str | Path) -> StoredGraphs | list[StreamGraph]:
    """Read all graphs of a dataset, and keep them in memory only if they cannot be read again.

    Raises
    ------
    FormatError
        If the dataset cannot be read, or holds no graph.
    """
    found = resolve(path)
    return StoredGraphs(path) if found.is_file() or found.is_dir() else read_dataset(path)


def iter_graphs(path: str | Path) -> Iterator[StreamGraph]:
    """Yield the graphs of a dataset one by one, in the order of the file or of the file names.

    ``FILE:NAME`` has the graphs of that name only.
    """
    found = resolve(path)
    if (part := file_and_name(found)) is not None:
        file, name = part
        names = dict[str, None]()
        for graph in iter_graphs(file):
            names[graph.name] = None
            if graph.name == name:
                yield graph
        if name not in names:
            raise FormatError(f"{file}: no graph is named {name!r}{candidates(name, [*names])}")
        return
    if found.is_dir():
        for member in files_of(found):
            yield from iter_graphs(member)
    elif found.name.endswith(".npz"):
        yield read_columns(found)
    else:
        for where, name, value in iter_values(found):
            yield graph_from(value, where, name)


def file_and_name(path: Path) -> tuple[str, str] | None:
    """Return the two parts of ``FILE:NAME`` where only FILE exists; None for other paths."""
    text = str(path)
    if ":" not in text or path.exists():
        return None
    for i, letter in enumerate(text):
        if letter == ":" and text[:i].endswith(GRAPHS) and Path(text[:i]).is_file():
            return text[:i], text[i + 1 :]
    return None


def files_of(path: str | Path) -> list[Path]:
    """Return the files that a dataset consists of, in the order in which they are read.

    Raises
    ------
    FormatError
        If a folder cannot be listed.
    """
    found = resolve(path)
    return _members(found) if found.is_dir() else [found]


def iter_values(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Yield (place, default name, JSON value) per graph of a text file, or of stdin (``-``)."""
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
    del text  # which would be in memory beside the graph
    if not isinstance(value, list):
        yield where, stem, value
        return
    for number, item in enumerate(value):
        yield f"{where}: [{number}]", f"{stem}_{number}", item


def check_name(path: str | Path) -> None:
    """Raise FormatError unless a name ends as that of a file of graphs does, or is ``-``."""
    if not Path(path).name.endswith((*LINES, ".json", ".npz")) and str(path) != STDIO:
        raise FormatError(f"{path}: must end in .jsonl, .jsonl.gz, .json or .npz")


def write_dataset(path: str | Path, graphs: Iterable[StreamGraph]) -> None:
    """Write graphs: any number to .jsonl or .jsonl.gz, one per line; one to .json or .npz.

    Raises
    ------
    FormatError
        If the name has another ending, if there is no graph, or if the ending is .json or .npz and
        there are several.
    """
    name = Path(path).name
    check_name(path)
    with atomic(path) as file:
        if name.endswith((".json", ".npz")):
            first = list(islice(graphs, 2))
            if len(first) != 1:
                count = "several" if first else "none"
                raise FormatError(
                    f"{path}: must hold exactly one graph (got {count}); use .jsonl for any number"
                )
            check_type("graphs:", first[0], StreamGraph, FormatError)
            if name.endswith(".npz"):
                write_columns(first[0], file)
            else:
                file.writelines(piece.encode() for piece in json_pieces(graph_to(first[0])))
        else:
            written = 0
            for written, graph in enumerate(graphs, start=1):  # noqa: B007 - counts the graphs
                file.write(_json(graph))
            if not written:
                raise FormatError(f"{path}: must hold at least one graph (got none)")


def _members(folder: Path) -> list[Path]:
    try:
        members = sorted(folder.iterdir())
    except OSError as error:
        raise FormatError(f"{folder}: {read_failure(error)}") from None
    return [path for path in members if path.is_file() and path.name.endswith(GRAPHS)]


def _is_lines(text: str) -> bool:
    first, *others = [line for line in text.split("\n") if line.strip()] or [""]
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return bool(others)


def _json(graph: StreamGraph) -> bytes:
    check_type("graphs:", graph, StreamGraph, FormatError)
    return json.dumps(graph_to(graph), ensure_ascii=False).encode() + b"\n"
