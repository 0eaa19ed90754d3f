"""The graphs of the study, generated or read from a dataset."""

import os
import stat
from functools import lru_cache

from streamplace.errors import FormatError
from streamplace.files import read_dataset
from streamplace.files.bounded import STDIO
from streamplace.files.datasets import files_of
from streamplace.generate import Recipe
from streamplace.problem.graph import StreamGraph

ONCE = "must be a file or a folder, which can be read several times"
State = tuple[tuple[str, int, int], ...]
"""The path, the modification time in ns and the size of each file of a dataset."""


def generated(count: int, seed: int, numbers: range) -> list[StreamGraph]:
    """Return some of `count` graphs of the paper's classes, by number."""
    recipe = Recipe("dream", count, seed=seed)
    return [recipe.graph(number) for number in numbers[: max(0, count - numbers.start)]]


def stored(dataset: str) -> list[StreamGraph]:
    """Return the graphs of a dataset, which is read again only if it has changed.

    Raises
    ------
    FormatError
        If the dataset cannot be read or holds no graph, or is a pipe, which can be read only once.
    """
    return _read(dataset, _state(dataset))


@lru_cache(maxsize=1)
def _read(dataset: str, state: State) -> list[StreamGraph]:
    return read_dataset(dataset)


def _state(dataset: str) -> State:
    if dataset == STDIO:
        raise FormatError(f"stdin: {ONCE}")
    files = []
    for path in files_of(dataset):
        try:
            status = os.stat(path)
        except OSError:
            continue  # reading it reports what is wrong with it
        if stat.S_ISFIFO(status.st_mode):
            raise FormatError(f"{path}: {ONCE} (got a pipe)")
        files.append((str(path), status.st_mtime_ns, status.st_size))
    return tuple(files)
