"""What a file is that is not one of streamplace, and the command that reads it.

The formats of other programs are known by those that read them, see `formats.recognition`, which is
loaded only if a file is not what was expected.
"""

import os
from pathlib import Path
from typing import Any

from streamplace.errors import UsageError
from streamplace.util.plugins import load_ours
from streamplace.util.text import file_in_shell

RECOGNITION = "streamplace.formats.recognition"
OURS = "streamplace-"
"""How the ``format`` of a file of streamplace begins."""
CSV = (
    "is CSV, not JSON; only jobs (import --from csv), placements (place --start) and costs "
    "(import --costs) may be CSV"
)
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
    if remedy := _remedy("kind_of_text", (name, text), name):
        return remedy
    endings = {".csv": CSV, ".toml": TOML}
    return next((says for end, says in endings.items() if text and name.lower().endswith(end)), "")


def remedy_of_value(value: Any, name: str) -> str:
    """Return of which program a JSON value is, and the command that reads it; empty if unknown.

    Parameters
    ----------
    name
        The name of its file.
    """
    return _remedy("kind_of_value", (value,), name)


def what_is(kind: str) -> str:
    """Return what a file of a format is, which may be one of streamplace."""
    if kind.startswith(OURS):
        return f"is a {kind.removeprefix(OURS)} of streamplace; only other formats need an import"
    return f"is a file of the format {kind}"


def _remedy(function: str, arguments: tuple[Any, ...], name: str) -> str:
    try:
        kind_of = load_ours(f"{RECOGNITION}:{function}")
    except UsageError:  # without the folder of formats, none is known
        return ""
    kind = kind_of(*arguments)
    if kind is None:
        return ""
    return f"{what_is(kind)}; this makes a {_made_of(kind)} of it: {import_command(kind, name)}"


def _made_of(kind: str) -> str:
    made: str = load_ours(f"{RECOGNITION}:makes")(kind)
    return made


def import_command(kind: str, name: str) -> str:
    """Return the command that makes a graph or cluster of a file; `name` is as in messages."""
    stem, made = Path(name).name.partition(".")[0], _made_of(kind)
    file, output = name, f"{stem}-{made}.json"
    if not os.path.isfile(name):  # stdin, or a place in a file
        file, output = "-" if name == "stdin" else "FILE", f"{made}.json"
    return f"streamplace import {file_in_shell(file)} --from {kind} -o {file_in_shell(output)}"
