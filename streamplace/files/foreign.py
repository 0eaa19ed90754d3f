"""Files of other programs, recognised where a file of streamplace is expected."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Any

ENDINGS = {
    ".adl": "ibm-adl",
    ".dot": "dot",
    ".graphml": "graphml",
    ".gv": "dot",
    ".onnx": "onnx",
}
"""End of a file's name -> the format in which `import` reads such files."""
HEAD = 100_000
"""Characters at the beginning of a text in which its format is looked for."""
_XML = r"\A(?:\s|<\?.*?\?>|<!--.*?-->|<!(?!--)[^>]*>|\]>)*+<(?:\w+:)?"
"""What an XML document has before the name of its root."""
TEXTS = {
    "dot": re.compile(
        r"\A(?:\s|//[^\n]*|/\*.*?\*/|\#[^\n]*)*+"
        r'(?:strict\s+)?(?:di)?graph\b\s*+(?:[\w.-]++|"(?:[^"\\]|\\.)*+"|<[^{]*>)?\s*+\{',
        re.DOTALL | re.IGNORECASE,
    ),
    "graphml": re.compile(_XML + r"graphml(?=[\s/>])", re.DOTALL),
    "openvino": re.compile(_XML + r"net(?=[\s/>])", re.DOTALL),
    "ibm-adl": re.compile(_XML + r"applicationSet(?=[\s/>])", re.DOTALL),
    "storm-flux": re.compile(r"^(?:spouts|topologySource):", re.MULTILINE),
    "kafka-streams": re.compile(r"^ *(?:Topologies|Sub-topolog(?:y|ies)):", re.MULTILINE),
    "flink-plan": re.compile(r"^== Physical Execution Plan ==", re.MULTILINE),
    "pipedream": re.compile(r" -- forward_compute_time="),
    "doppler": re.compile(r"\A\s*\d+\s*\n(?:\d+, *)+\n"),
}
"""Format -> what the beginning of such a text contains, found in linear time."""
FIELDS = (
    ("flink-plan", {"nodes[].pact", "nodes[].parallelism"}),
    ("flink-plan", {"nodes[].description", "nodes[].parallelism"}),
    ("flink-plan", {"nodes[].id", "flinkVersion"}),
    ("wfformat", {"workflow", "schemaVersion"}),
    ("dnn-partitioning", {"nodes[].id", "maxFPGAs"}),
    ("storm-ui", {"spouts[].id", "bolts[].id"}),
    ("storm-ui", {"spouts[].spoutId"}),
    ("storm-ui", {"*.:type"}),
    ("ibm-streamsx", {"operators[].outputs"}),
    ("dream", {"operators[].idx", "connections[].from_vertex"}),
)
"""Formats, and fields that their JSON objects have together.

``nodes[].id`` is a field of the first object in a list, and ``*.id`` one of any object inside.
"""
OURS = "streamplace-"
"""How the ``format`` of a file of streamplace begins."""
AROUND = ("plan", "visualization", "metrics")
"""Fields whose value may be the whole document, in answers of Flink and Storm."""
CSV = "is CSV, not JSON; only placements (place --start) and costs (import --costs) may be CSV"

TOML = (
    "is TOML, not JSON; only training configurations (train --config) and costs (import --costs) "
    "may be TOML"
)


def remedy_of_text(name: str, text: str = "") -> str:
    """Return what a text that is not JSON is, and the command that reads it; empty if unknown.

    Parameters
    ----------
    name
        The name of its file.
    text
        Empty if the file is not text.
    """
    if text and name.lower().endswith(".csv"):
        return CSV
    if text and name.lower().endswith(".toml"):
        return TOML
    return _remedy(kind_of_text(name, text), name)


def kind_of_document(name: str, text: str) -> str | None:
    """Return the format of a text, which may be JSON; None if unknown.

    It may be one of streamplace, such as ``streamplace-graph``.
    """
    if not text.lstrip().startswith("{"):  # large lists of another format take long to parse
        return kind_of_text(name, text)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return kind_of_text(name, text)
    own = str(value.get("format"))
    return own if own.startswith(OURS) else kind_of_value(value)


def kind_of_text(name: str, text: str) -> str | None:
    """Return the format of a text, by its content, else by the name of its file; None if unknown.

    Only by that name if the text is JSON, see `kind_of_value`.
    """
    of_name = next((kind for end, kind in ENDINGS.items() if name.lower().endswith(end)), None)
    head = text[:HEAD]
    found = (kind for kind, pattern in TEXTS.items() if pattern.search(head))
    return next(found, of_name)


def remedy_of_value(value: Any, name: str) -> str:
    """Return of which program a JSON value is, and the command that reads it; empty if unknown.

    Parameters
    ----------
    name
        The name of its file.
    """
    return _remedy(kind_of_value(value), name)


def kind_of_value(value: Any) -> str | None:
    """Return the format of a JSON value of another program; None if unknown."""
    if not isinstance(value, dict) or "format" in value:
        return None
    inner = [value[key] for key in AROUND if isinstance(value.get(key), dict)]
    found = [{*_fields(each)} for each in (value, *inner)]
    return next((kind for kind, those in FIELDS if any(those <= each for each in found)), None)


def what_is(kind: str) -> str:
    """Return what a file of a format is, which may be one of streamplace."""
    if kind.startswith(OURS):
        return f"is a {kind.removeprefix(OURS)} of streamplace; only other formats need an import"
    return f"is a file of the format {kind}"


def _remedy(kind: str | None, name: str) -> str:
    if kind is None:
        return ""
    return f"{what_is(kind)}; this makes a graph of it: {import_command(kind, name)}"


def import_command(kind: str, name: str) -> str:
    """Return the command that makes a graph of a file; `name` is as in messages."""
    stem = Path(name).name.partition(".")[0]
    file, output = name, f"{stem}-graph.json"
    if not os.path.isfile(name):  # stdin, or a place in a file
        file, output = "-" if name == "stdin" else "FILE", "graph.json"
    return f"streamplace import {quote(file)} --from {kind} -o {quote(output)}"


def _fields(value: dict[str, Any]) -> Iterator[str]:
    """Yield the fields of an object and of those within it, named as in `FIELDS`."""
    for field, member in value.items():
        yield field
        is_list = isinstance(member, list) and len(member) > 0
        within, inner = (f"{field}[]", member[0]) if is_list else ("*", member)
        if isinstance(inner, dict):
            yield from (f"{within}.{each}" for each in inner)
