"""Nested facts about a file, one a line."""

from typing import Any

from streamplace.cli.table import NAME_WIDTH
from streamplace.cli.terminal import console, name_in
from streamplace.display.labels import listed
from streamplace.display.view import Names


def print_facts(facts: dict[str, Any], indent: str = "") -> None:
    """Print nested facts, one a line."""
    out = console()
    for key, value in facts.items():
        label = indent + key.replace("_", " ")
        room = out.width - len(label) - len(": ")
        if isinstance(value, dict):
            out.print(f"{label}:")
            print_facts(value, indent + "  ")
        elif isinstance(value, list):
            out.print(f"{label}: {listed(Names.of([str(item) for item in value]), room)}")
        else:
            out.print(f"{label}: {name_in(out, str(value), max(room, NAME_WIDTH))}")
