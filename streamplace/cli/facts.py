"""Nested facts about a file, one per line."""

from typing import Any

from streamplace.cli.table import NAME_WIDTH
from streamplace.cli.terminal import console, name_in
from streamplace.display.labels import listed
from streamplace.display.view import Names
from streamplace.util.text import printable

LABELS = {
    "links_that_differ": "links with their own settings",
    "longest_path": "longest path, operators",
    "longest_shortest_path": "longest shortest path, operators",
    "streams_per_operator": "streams per operator",
    "width": "width, operators of the largest level",
    "pes": "operators per device",
    "source_rate": "source rate, tuples/s",
    "source_rates": "source rates, tuples/s",
    "target_utilisation": "target utilisation",
    "total_mips": "total MIPS",
    "bandwidth_mbps": "bandwidth, Mbit/s",
    "devices_used": "devices used",
    "up_mbps": "up, Mbit/s",
    "down_mbps": "down, Mbit/s",
    "unknown": "unknown quantities",
    "types": "operators of each type",
    "seconds_on": "operators with seconds on each kind of device",
    "kinds": "devices of each kind",
    "counts": "numbers of instances",
    "partitioning": "partitioning of streams",
    "key_shares": "shares of keys",
    "networks": "clusters with each kind of network",
}
"""Labels of facts whose key in the JSON output does not explain itself."""
KEYED_BY_NAMES = {
    "pes",
    "groups",
    "uplinks",
    "prices",
    "slots",
    "types",
    "seconds_on",
    "kinds",
    "networks",
    "counts",
    "partitioning",
    "key_shares",
}
LIMITS = {"min_parallelism": "at least", "max_parallelism": "at most"}
ON_ONE_LINE = {"counts", "key_shares"}
"""Facts of which each entry, a dictionary, is printed on one line."""


def print_facts(facts: dict[str, Any], indent: str = "", *, names: bool = False) -> None:
    """Print nested facts, one per line.

    A list of dictionaries is printed as one block per item, ``stage[0]``, ``stage[1]``, ….

    Parameters
    ----------
    names
        Whether the keys are names of operators or devices, which are printed as they are.
    """
    out = console()
    for key, value in facts.items():
        label = indent + printable(str(key if names else LABELS.get(key, key)))
        room = out.width - len(label) - len(": ")
        if isinstance(value, dict) and value:
            out.print(f"{label}:")
            shown = {k: _joined(v) for k, v in value.items()} if key in ON_ONE_LINE else value
            print_facts(shown, indent + "  ", names=key in KEYED_BY_NAMES)
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            for i, item in enumerate(value):
                out.print(f"{label}[{i}]:")
                print_facts(item, indent + "  ")
        elif isinstance(value, list) and value:
            out.print(f"{label}: {listed(Names.of([_text(item) for item in value]), room)}")
        else:
            out.print(f"{label}: {name_in(out, _text(value), max(room, NAME_WIDTH))}")


def _joined(fact: object) -> object:
    """Return a dictionary, or a list of them, as text such as ``parallelism 4, partitions 16``."""
    if isinstance(fact, list):
        return [_joined(one) for one in fact]
    if not isinstance(fact, dict):
        return fact
    return ", ".join(
        f"{LIMITS.get(k, k)} " + (f"({_joined(v)})" if isinstance(v, dict) else _text(v))
        for k, v in fact.items()
    )


def _text(value: object) -> str:
    """Return a single fact as text; ``none`` for null and for an empty value."""
    if value is None or value in ([], {}, ""):
        return "none"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.10g}" if isinstance(value, float) else str(value)
