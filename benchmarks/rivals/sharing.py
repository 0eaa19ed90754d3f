"""Pairs that several processes divide among them."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from shutil import rmtree

from streamplace.errors import FormatError
from streamplace.files.writing import held

Key = tuple[str, str, int]
"""Query, load and seed of a pair."""


def free_pairs(keys: Iterable[Key], work: Path) -> Iterator[tuple[Key, Path]]:
    """Yield the pairs that no other process runs, each with an empty folder, which is locked.

    The folder is removed afterwards, and stays as it is if the work on it fails.
    """
    for key in keys:
        with ExitStack() as later:
            try:
                folder = later.enter_context(held(work / "-".join(map(str, key))))
            except FormatError:
                continue
            _empty(folder)
            yield key, folder
            _empty(folder)


def _empty(folder: Path) -> None:
    for each in folder.iterdir():
        if each.is_dir():
            rmtree(each)
        else:
            each.unlink()
