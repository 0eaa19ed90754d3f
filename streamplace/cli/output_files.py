"""Checks of output files: before the work, and never a file that the command reads."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from streamplace.files.bounded import STDIO


def check_targets(
    targets: Mapping[str, str | None], inputs: Iterable[str | Path | None] = ()
) -> None:
    """Raise where files could not be written, or would be written over an input.

    Parameters
    ----------
    targets
        Files to write, each by the option that asks for it; none where it is not given.
    inputs
        See `refuse_inputs`.

    Raises
    ------
    FormatError
        If one cannot be written.
    UsageError
        If one is an input, or the same as another.
    """
    from streamplace.files.atomic import check_target  # noqa: PLC0415 - see refuse_inputs

    asked = [(option, target) for option, target in targets.items() if target is not None]
    for _, target in asked:
        check_target(target)
    refuse_inputs(asked, inputs)


def refuse_inputs(
    targets: Iterable[tuple[str, str | Path]], inputs: Iterable[str | Path | None]
) -> None:
    """Refuse to write over what is read.

    Two names of one file are one file, links followed; a folder is the files that are read in it.

    Parameters
    ----------
    targets
        Options and the files to write for them.
    inputs
        Files that are read, or folders of graphs; ``-`` is what stdin comes from.

    Raises
    ------
    UsageError
        If a file to write is an input, or two of them are the same.
    """
    from streamplace.errors import UsageError  # noqa: PLC0415 - a command loads what it needs

    read = [found for one in inputs if one is not None for found in _files(one)]
    options: dict[str, str] = {}
    for option, target in targets:
        if str(target) == STDIO:
            continue
        there = None
        with suppress(OSError):  # it is not there yet
            there = os.stat(target)
        if there is not None and not stat.S_ISREG(there.st_mode):
            continue  # a pipe or a device
        path = os.path.realpath(target)
        if path in options:
            raise UsageError(f"{options[path]} and {option} name one file")
        options[path] = option
        for name, status in read:
            if there is not None and os.path.samestat(there, status):
                raise UsageError(f"{option} {target}: would write over {name}, an input")


def refuse_folder(
    option: str, folder: str, names: Iterable[str], inputs: Iterable[str | None]
) -> None:
    """Refuse to write files of these names into a folder that is read, or over what is read in it.

    Raises
    ------
    UsageError
        If the folder is an input, or a file to write there is.
    """
    from streamplace.errors import UsageError  # noqa: PLC0415 - see refuse_inputs

    read = [one for one in inputs if one is not None]
    for one in read:
        with suppress(OSError, ValueError):  # it is not there; reading tells what is wrong with it
            if os.path.isdir(one) and os.path.samefile(folder, one):
                raise UsageError(f"{option} {folder}: is an input, which its files would add to")
    refuse_inputs([(option, Path(folder) / name) for name in names], read)


def weights_of(placers: str) -> list[str]:
    """Return the files that the names of placers tell: ``policy:file=run/policy.safetensors``."""
    options = [option for name in placers.split(",") for option in name.split(":")[1:]]
    return [option.removeprefix("file=") for option in options if option.startswith("file=")]


def _files(name: str | Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the regular files that an input stands for; reading tells what is wrong with it."""
    from streamplace.errors import StreamplaceError  # noqa: PLC0415
    from streamplace.files.datasets import files_of  # noqa: PLC0415

    if str(name) == STDIO:
        with suppress(OSError, ValueError, AttributeError):  # it may be closed, or none at all
            status = os.fstat(sys.stdin.fileno())
            if stat.S_ISREG(status.st_mode):
                yield "stdin", status
        return
    with suppress(OSError, StreamplaceError):
        for path in files_of(name):
            if path.is_file():
                yield str(path), path.stat()
