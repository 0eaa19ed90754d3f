"""Checks that a file written by a command is readable."""

import csv
import json
import tomllib
from collections.abc import Callable
from pathlib import Path

from matplotlib.image import imread

from streamplace.errors import StreamplaceError
from streamplace.files import read_clusters, read_dataset, read_placement
from streamplace.files.training_logs import LOG, read_log
from streamplace.policy.weights import unpacked


def unreadable(path: Path) -> str:
    """Return why a file cannot be read; empty if it can."""
    try:
        _reader(path)(path)
    except (StreamplaceError, ValueError, OSError, SyntaxError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _reader(path: Path) -> Callable[[Path], object]:
    if path.name == LOG:
        return lambda path: read_log(path.parent)
    readers: dict[str, Callable[[Path], object]] = {
        ".safetensors": lambda path: unpacked(path.read_bytes(), str(path)),
        ".csv": _table,
        ".png": imread,
        ".gz": read_dataset,
        ".jsonl": read_dataset,
        ".toml": lambda path: tomllib.loads(path.read_text()),
        ".md": _lines,
        ".tex": _lines,
    }
    if path.name.startswith("placement"):
        return read_placement
    if path.name.startswith("clusters"):
        return read_clusters
    return readers.get(path.suffix, lambda path: json.loads(path.read_text()))


def _table(path: Path) -> None:
    rows = list(csv.reader(path.read_text().splitlines()))
    if len({len(row) for row in rows}) != 1 or len(rows) < 2:
        raise ValueError("is not a table")
    _lines(path)


def _lines(path: Path) -> None:
    if not path.read_text().endswith("\n"):
        raise ValueError("does not end with a newline")
