"""Files of other programs, recognised where a file of streamplace is expected."""

import re
from collections.abc import Iterator
from typing import Any

ENDINGS = {
    ".adl": "ibm-adl",
    ".dot": "dot",
    ".graphml": "graphml",
    ".grc": "gnuradio",
    ".gv": "dot",
    ".onnx": "onnx",
}
"""End of a file's name -> the format in which `import` reads such files."""
HEAD = 100_000
"""Characters at the beginning of a text in which its format is looked for."""
TEXTS = {
    "dot": re.compile(
        r'^[ \t]*(?:strict\s+)?(?:di)?graph(?:\s+\w+|\s*"[^"]*")?\s*\{', re.MULTILINE
    ),
    "graphml": re.compile(r"<(?:\w+:)?graphml\b"),
    "openvino": re.compile(r"<net\b"),
    "ibm-adl": re.compile(r"<(?:\w+:)?applicationSet\b"),
    "gnuradio": re.compile(r"^options:[ \t]*$", re.MULTILINE),
    "storm-flux": re.compile(r"^(?:spouts|bolts|topologySource):", re.MULTILINE),
    "kafka-streams": re.compile(r"^ *(?:Topologies|Sub-topolog(?:y|ies)):", re.MULTILINE),
    "flink-plan": re.compile(r"^== Physical Execution Plan ==", re.MULTILINE),
    "pipedream": re.compile(r" -- forward_compute_time="),
    "doppler": re.compile(r"\A\s*\d+\s*\n(?:\d+, *)+\n"),
}
"""Format -> what the beginning of such a text contains, found in linear time."""
FIELDS = (
    ("flink-plan", {"nodes", "parallelism"}),
    ("flink-plan", {"nodes", "flinkVersion"}),
    ("wfformat", {"workflow", "schemaVersion"}),
    ("dnn-partitioning", {"nodes", "maxFPGAs"}),
    ("storm-ui", {"spouts", "bolts"}),
    ("storm-ui", {"visualization"}),
    ("storm-ui", {":type"}),
    ("ibm-streamsx", {"operators", "outputs"}),
)
"""Formats, and fields that their JSON objects or the first objects within these have together."""
CSV = "is CSV, not JSON; only placements (place --start) and costs (import --costs) may be CSV"


def remedy_of_text(name: str, text: str = "") -> str:
    """Return what a text that is not JSON is, and which command reads it; empty if unknown.

    Parameters
    ----------
    name
        The name of its file.
    text
        Empty if the file is not text.
    """
    return CSV if name.lower().endswith(".csv") else _remedy(kind_of_text(name, text))


def kind_of_text(name: str, text: str) -> str | None:
    """Return the format of a text that is not JSON, see `remedy_of_text`; None if unknown."""
    of_name = next((kind for end, kind in ENDINGS.items() if name.lower().endswith(end)), None)
    head = text[:HEAD]
    found = (kind for kind, pattern in TEXTS.items() if pattern.search(head))
    return of_name or next(found, None)


def remedy_of_value(value: Any) -> str:
    """Return which program a JSON value is of, and which command reads it; empty if unknown."""
    if not isinstance(value, dict) or "format" in value:
        return ""
    plan = value.get("plan")
    fields = {*_fields(plan if isinstance(plan, dict) else value)}
    return _remedy(next((kind for kind, those in FIELDS if those <= fields), None))


def _remedy(kind: str | None) -> str:
    if kind is None:
        return ""
    return f"is a file of the format {kind}; 'streamplace import --from {kind}' makes a graph of it"


def _fields(value: dict[str, Any]) -> Iterator[str]:
    """Yield the fields of an object, and those of the first object in each of its values."""
    for field, member in value.items():
        yield field
        first = member[0] if isinstance(member, list) and member else member
        if isinstance(first, dict):
            yield from first
