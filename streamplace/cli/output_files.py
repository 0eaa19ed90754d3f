"""Output files: checks before the work, so that no command overwrites its inputs; placements."""

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from streamplace.cli.command import print_note
from streamplace.errors import StreamplaceError, UsageError
from streamplace.files import write_placement
from streamplace.files.assignments import csv_of
from streamplace.files.datasets import files_of
from streamplace.files.placement_columns import NPZ
from streamplace.files.placements import EMBEDDED, refers_to_graph
from streamplace.files.reading import ONE_STDIN, STDIO, name_of
from streamplace.files.writing import check_target, write_text
from streamplace.problem.placement import Placement

REPORT = "'streamplace report' writes a page"
WRITERS = {
    ".csv": "'streamplace export --to csv' writes CSV",
    NPZ: "write the ending in small letters",
    ".html": REPORT,
    ".htm": REPORT,
}
"""Ending of a file that is no placement -> what to do."""


def check_targets(
    targets: Mapping[str, str | None], inputs: Iterable[str | Path | None] = ()
) -> None:
    """Refuse output files that cannot be written, or that would overwrite an input.

    Parameters
    ----------
    targets
        Option -> file to write; None where the option is not used.
    inputs
        See `refuse_inputs`.

    Raises
    ------
    FormatError
        If a file cannot be written.
    UsageError
        If a file is an input, or the same as another output, or if two inputs are ``-``.
    """
    inputs = [*inputs]
    if [str(name) for name in inputs].count(STDIO) > 1:
        raise UsageError(f"stdin: {ONE_STDIN}")
    used = [(option, target) for option, target in targets.items() if target is not None]
    for _, target in used:
        check_target(target)
    refuse_inputs(used, inputs)


def refuse_inputs(
    targets: Iterable[tuple[str, str | Path]], inputs: Iterable[str | Path | None]
) -> None:
    """Refuse to overwrite inputs.

    Files are compared by identity, so that links are recognised. An input folder stands for the
    files in it that are read.

    Parameters
    ----------
    targets
        Options, and the files to write for them.
    inputs
        Files that are read, or folders of graphs; ``-`` is the file behind stdin, if any.

    Raises
    ------
    UsageError
        If a file to write is an input, or two of them are the same.
    """
    read = [found for name in inputs if name is not None for found in _files(name)]
    options: dict[str, str] = {}
    for option, target in targets:
        if str(target) == STDIO:
            continue
        existing = None
        with suppress(OSError):  # usually the file does not exist yet
            existing = os.stat(target)
        if existing is not None and not stat.S_ISREG(existing.st_mode):
            continue  # a pipe or a device file
        path = os.path.realpath(target)
        if path in options:
            raise UsageError(f"{options[path]} and {option} name the same file")
        options[path] = option
        for name, status in read:
            if existing is not None and os.path.samestat(existing, status):
                raise UsageError(f"{option} {target}: would overwrite the input {name}")


def refuse_folder(
    option: str, folder: str, names: Iterable[str], inputs: Iterable[str | None]
) -> None:
    """Refuse to write files of these names into an input folder, or over an input.

    Raises
    ------
    UsageError
        If the folder or one of the files is an input, or if the locale's encoding of file names
        lacks a character of a name.
    """
    names = list(names)
    for name in names:
        try:
            os.fsencode(name)
        except UnicodeEncodeError as error:
            lacking = f"the encoding of file names here, {error.encoding}, lacks characters of"
            remedy = "set PYTHONUTF8=1, or a locale with UTF-8"
            raise UsageError(f"{option} {folder}: {lacking} {name!a}; {remedy}") from None
    read = [name for name in inputs if name is not None]
    for name in read:
        with suppress(OSError, ValueError):  # reading it reports what is wrong with it
            if os.path.isdir(name) and os.path.samefile(folder, name):
                raise UsageError(f"{option} {folder}: is an input folder; choose another folder")
    refuse_inputs([(option, Path(folder) / name) for name in names], read)


def refuse_other_names(target: str | None) -> None:
    """Refuse to write a placement with its problem and score under a name of another kind of file.

    Raises
    ------
    UsageError
        If the name ends in .csv, so that commands would read it as CSV, in .NPZ, whose file would
        be JSON, or as that of a page does.
    """
    ending = Path(target or "").suffix
    if ending == NPZ or ending.lower() not in WRITERS:
        return
    remedy = WRITERS[ending.lower()]
    raise UsageError(f"-o {target}: a placement file is JSON or .npz; {remedy}")


def print_embedded(target: str, placement: Placement | None) -> None:
    """Print that a placement in JSON holds a large graph, since no file has exactly this graph."""
    if placement is None:
        return
    graph = placement.problem.graph
    is_large = len(graph.names) > EMBEDDED and not target.endswith(NPZ)
    if is_large and not refers_to_graph(graph):
        print_note(
            f"{name_of(target)}: holds the whole graph of {len(graph.names):,} operators, which is "
            "in no file of its own; -o with a name that ends in .npz writes a smaller file, which "
            "is read faster"
        )


def placement_writer(
    file: str, assignment: Callable[[], Mapping[str, str]], placement: Callable[[], Placement]
) -> Callable[[], None]:
    """Return what writes a placement: as CSV if the file's name ends in .csv, or else as JSON.

    Parameters
    ----------
    assignment, placement
        Return what CSV and what JSON holds; the one that is needed is called at once.
    """
    if file.lower().endswith(".csv"):
        return partial(write_text, file, csv_of(assignment()))
    return partial(write_placement, file, placement())


def weights_of(*placers: str) -> list[str]:
    """Return the files named in placers' options: ``policy:file=run/policy.safetensors``."""
    options = [option for name in placers for option in name.split(":")[1:]]
    return [option.removeprefix("file=") for option in options if option.startswith("file=")]


def _files(name: str | Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the regular files that an input stands for; nothing for one that cannot be read."""
    if str(name) == STDIO:
        with suppress(OSError, ValueError, AttributeError):  # stdin may be closed or None
            status = os.fstat(sys.stdin.fileno())
            if stat.S_ISREG(status.st_mode):
                yield "stdin", status
        return
    with suppress(OSError, StreamplaceError):
        for path in files_of(name):
            if path.is_file():
                yield str(path), path.stat()
