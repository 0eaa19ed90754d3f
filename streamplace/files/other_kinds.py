"""Files that `info` does not summarise, recognised so that the error can say what they are."""

from pathlib import Path
from typing import Any

from streamplace.errors import FormatError
from streamplace.files.foreign import remedy_of_value
from streamplace.files.own import KINDS, kind_of
from streamplace.files.training_logs import CHECKPOINT, LOG, POLICY
from streamplace.util.suggest import closest_match

READABLE = "info reads graphs, datasets, clusters, placements, checkpoints and policy weights"
SUMMARISED_KINDS = {KINDS[f"streamplace-{kind}"] for kind in ("graph", "cluster", "placement")}
SUMMARISED = (
    "format",
    "operators",
    "connections",
    "streams",
    "devices",
    "assignment",
    "placements",
)
"""Fields of files that `info` does summarise."""


def refuse_other_folder(folder: Path, where: str) -> None:
    """Refuse the folder of a training run, or one that compare has written.

    Raises
    ------
    FormatError
        If it is one; for a run folder, the message names the file to read instead.
    """
    if (folder / "compare.json").is_file():
        raise FormatError(f"{where}: is a folder of results of compare; {READABLE}")
    if any((folder / name).is_file() for name in (POLICY, CHECKPOINT, LOG)):
        raise FormatError(f"{where}: is a run folder; read {folder / POLICY} instead")


def refuse_other_kind(value: Any, where: str) -> None:
    """Refuse the JSON value of a file that is neither a graph, a cluster nor a placement.

    Raises
    ------
    FormatError
        If it is another kind of file; the message names the kind if it is a known one.
    """
    if not isinstance(value, dict) or value.get("format") == "streamplace-placement":
        return
    kind = kind_of(value)
    if kind is not None and kind not in SUMMARISED_KINDS:
        raise FormatError(f"{where}: is {kind}; {READABLE}")
    if not any(field in value or closest_match(field, value) for field in SUMMARISED):
        fault = remedy_of_value(value, where) or f"is not a file that info reads; {READABLE}"
        raise FormatError(f"{where}: {fault}")
