"""Datasets: a folder, .json, .jsonl or .jsonl.gz of graphs, or one .npz graph."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from streamplace.errors import FormatError
from streamplace.files.atomic import atomic
from streamplace.files.columns import read_columns, write_columns
from streamplace.files.graphs import graph_from, graph_to
from streamplace.files.shipped import resolve
from streamplace.files.text import json_lines, read_json
from streamplace.graph import StreamGraph

LINES = (".jsonl", ".jsonl.gz")
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
        raise FormatError(f"{path}: holds no graph")
    if next(graphs, None) is not None:
        raise FormatError(f"{path}: holds several graphs, and one is wanted")
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
        raise FormatError(f"{path}: holds no graph")
    return graphs


def iter_graphs(path: str | Path) -> Iterator[StreamGraph]:
    """Yield the graphs of a dataset one by one, in the order of the file or of the file names."""
    found = resolve(path)
    if found.is_dir():
        for member in sorted(found.iterdir()):
            if member.is_file() and member.name.endswith(GRAPHS):
                yield from iter_graphs(member)
    elif found.name.endswith(".npz"):
        yield read_columns(found)
    elif found.name.endswith(LINES):
        for number, (where, value) in enumerate(json_lines(found)):
            yield graph_from(value, where, f"{_stem(found)}_{number}")
    else:
        value = read_json(found)
        several = value if isinstance(value, list) else [value]
        for number, one in enumerate(several):
            suffix = f"_{number}" if isinstance(value, list) else ""
            where = f"{path}: [{number}]" if isinstance(value, list) else str(path)
            yield graph_from(one, where, _stem(found) + suffix)


def write_dataset(path: str | Path, graphs: Iterable[StreamGraph]) -> None:
    """Write graphs: .jsonl or .jsonl.gz a line each; .json or .npz for a single one.

    Raises
    ------
    FormatError
        If the name ends otherwise, or the graphs do not fit.
    """
    name = Path(path).name
    if not name.endswith((*LINES, ".json", ".npz")) and str(path) != "-":
        raise FormatError(f"{path}: must end in .jsonl, .jsonl.gz, .json or .npz")
    with atomic(path) as file:
        if name.endswith((".json", ".npz")):
            graph, *more = graphs
            if more:
                raise FormatError(f"{path}: holds one graph; use .jsonl or .jsonl.gz for several")
            if name.endswith(".npz"):
                write_columns(graph, file)
            else:
                file.write(
                    json.dumps(graph_to(graph), indent=1, ensure_ascii=False).encode() + b"\n"
                )
        else:
            for graph in graphs:
                file.write(json.dumps(graph_to(graph), ensure_ascii=False).encode() + b"\n")


def _stem(path: Path) -> str:
    return path.name.split(".")[0] or "graph"
