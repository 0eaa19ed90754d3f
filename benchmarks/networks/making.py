"""The graphs in ``datasets/networks``: exported, measured in CPU time and written."""

import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.networks.models import Network, network
from streamplace.files.graphs import graph_to
from streamplace.files.writing import write_text
from streamplace.networks.torch.measuring import Measurement, measure
from streamplace.problem.graph import StreamGraph

FOLDER = Path(__file__).resolve().parents[2] / "datasets" / "networks"
DIGITS = 4  # of a measured time, whose standard error is larger than the last of them


def make(name: str, repeats: int, seconds: float, folder: Path = FOLDER) -> Measurement:
    """Measure a network, write its graph, and return the measurement.

    Parameters
    ----------
    repeats, seconds
        See `measure`.
    folder
        Where to write ``NAME.json``.
    """
    found = network(name)
    measured = measure(
        found.module, found.inputs, repeats=repeats, seconds=seconds, threads=1, cpu_time=True
    )
    graph = measured.graph.with_numbers(multicast="device")[0]
    write_text(folder / f"{name}.json", text_of(graph, name, comment(found, measured)))
    return measured


def text_of(graph: StreamGraph, name: str, about: str) -> str:
    """Return the text of a graph's file: a line per operator and stream, and rounded times.

    Parameters
    ----------
    name, about
        Name and comment of the graph in the file.
    """
    value = graph_to(graph)
    rows = {field: value.pop(field) for field in ("operators", "streams")}
    for operator in rows["operators"]:
        times = operator["seconds_on"]
        operator["seconds_on"] = {kind: _rounded(time) for kind, time in times.items()}
    head = {**value, "name": name, "comment": about}
    return "".join(_lines(head, rows))


def comment(found: Network, measured: Measurement) -> str:
    """Return what a graph was made from, and how its times were measured."""
    package, shape = found.source.partition(".")[0], "x".join(map(str, found.inputs[0].shape))
    return (
        f"Structure: {found.source} ({package} {version(package)}) with random weights, exported "
        f"by torch {version('torch')} for an input of shape {shape}. Times: CPU time of the "
        f"process, one thread, median of {measured.repeats} passes."
    )


def _lines(head: dict[str, Any], rows: dict[str, list[Any]]) -> Iterator[str]:
    yield json.dumps(head, indent=1).removesuffix("\n}")
    for field, several in rows.items():
        yield f",\n {json.dumps(field)}: [\n  "
        yield ",\n  ".join(map(json.dumps, several))
        yield "\n ]"
    yield "\n}\n"


def _rounded(time: float) -> float:
    return float(f"{time:.{DIGITS}g}")
