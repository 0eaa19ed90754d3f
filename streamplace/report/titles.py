"""Titles of the files in a report, with as many parent folders as needed to be unique."""

from collections.abc import Sequence
from pathlib import Path

from streamplace.files.reading import name_of


def titles(files: Sequence[str]) -> list[str]:
    """Return the names of files, preceded by the folders that differ if names are the same."""
    paths = [Path(name_of(file)) for file in files]
    shown = [path.name for path in paths]
    for name in {name for name in shown if shown.count(name) > 1}:
        alike = [i for i, path in enumerate(paths) if path.name == name]
        parts = [paths[i].absolute().parts for i in alike]
        depth = next(
            (n for n in range(2, max(map(len, parts)) + 1) if _differ(parts, n)),
            1,
        )
        for i, part in zip(alike, parts, strict=True):
            shown[i] = "/".join(part[-depth:]).lstrip("/")
    return shown


def _differ(paths: list[tuple[str, ...]], depth: int) -> bool:
    """Return whether the last `depth` parts of the paths distinguish all different files."""
    return len({parts[-depth:] for parts in paths}) == len(set(paths))
