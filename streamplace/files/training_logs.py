"""The log of a training run, with one line of JSON per step, and the names of its other files."""

import json
from collections.abc import Callable
from math import isfinite
from pathlib import Path

from streamplace.errors import FormatError
from streamplace.files.reading import read_bytes
from streamplace.util.suggest import near_file

LOG, CONFIG = "log.jsonl", "config.json"
CHECKPOINT, POLICY = "checkpoint.safetensors", "policy.safetensors"
WRITTEN = (CHECKPOINT, POLICY, CONFIG, LOG)
"""The files that a training run writes."""
LARGEST = 1e300  # magnitude of a value; larger ones overflow while a plot is drawn
Log = list[dict[str, float]]


def read_log(folder: str | Path) -> Log:
    """Return the steps in a run's log, even while the run continues.

    Text after the last line break is left out: the process may have been killed while it wrote a
    line, or may still be writing it.

    Raises
    ------
    FormatError
        If there is no log, a line is not a step, or a value of it is too large to be drawn.
    """
    path = Path(folder) / LOG
    if _is(lambda each: not each.exists(), folder):
        raise FormatError(f"{folder}: no such folder{near_file(folder)}")
    if _is(Path.is_dir, folder) and not path.is_file():
        raise FormatError(f"{folder}: no {LOG}: no training run has started in this folder")
    if _is(Path.is_file, folder):
        named = f", {Path(folder).parent}" if Path(folder).name == LOG else ""
        raise FormatError(f"{folder}: is a file; expected the folder of a training run{named}")
    lines = read_bytes(path).decode("utf-8", errors="replace").split("\n")
    found: Log = []
    for number, line in enumerate(lines[:-1], start=1):  # text after the last \n is incomplete
        if not line.strip():
            continue
        step = _step(line)
        if step is None:
            raise FormatError(f"{path}: line {number}: not a step of a training run")
        for name, value in step.items():
            if abs(value) > LARGEST:
                wanted = f"must be {-LARGEST:g} to {LARGEST:g} (got {value:g})"
                raise FormatError(f"{path}: line {number}: {name!r:.40}: {wanted}")
        found.append(step)
    return found


def _is(kind: Callable[[Path], bool], path: str | Path) -> bool:
    try:
        return kind(Path(path))
    except OSError:  # such as a name that is too long, which reading reports
        return False


def _step(line: str) -> dict[str, float] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or "step" not in value:
        return None
    if not all(isinstance(number, int | float) for number in value.values()):
        return None
    try:
        found = {name: float(number) for name, number in value.items()}
    except OverflowError:
        return None
    return found if all(map(isfinite, found.values())) else None
