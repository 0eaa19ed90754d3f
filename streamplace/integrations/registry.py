"""Engines' documents in and out, by the name of their kind; who does it is imported when used."""

from collections.abc import Callable
from importlib import import_module
from typing import cast

from streamplace.errors import FormatError, UsageError, located
from streamplace.files.reading import name_of, read_text
from streamplace.integrations.kinds import READERS, WRITERS
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.placement import Placement
from streamplace.util.suggest import valid_choices


def read_job(path: str, kind: str) -> LogicalGraph:
    """Read an engine's document; ``-`` is stdin.

    Raises
    ------
    UsageError
        If nobody reads that kind.
    FormatError
        Naming the file, the place in it and the fault.
    """
    return read_text_as(read_text(path), name_of(path), kind)


def read_text_as(text: str, where: str, kind: str) -> LogicalGraph:
    """Read an engine's document that is called `where`.

    Raises
    ------
    UsageError
        If nobody reads that kind.
    FormatError
        Naming `where`, the place in it and the fault, in one line whatever the document holds.
    """
    read = cast("Callable[[str, str], LogicalGraph]", _found(READERS, kind, "reads"))
    try:
        with located(where, FormatError):
            return read(text, where)
    except RecursionError:
        raise FormatError(f"{where}: nested too deeply") from None
    except FormatError as error:
        raise FormatError(" ".join(str(error).splitlines())) from None


def written(placement: Placement, kind: str) -> str:
    """Return a placement as an engine takes it.

    Raises
    ------
    UsageError
        If nobody writes that kind.
    ProblemError
        If the engine cannot be told such a placement.
    """
    write = cast("Callable[[Placement], str]", _found(WRITERS, kind, "writes"))
    return write(placement)


def _found(there: dict[str, str], kind: str, does: str) -> object:
    if kind not in there:
        raise UsageError(f"nobody {does} {kind!r}{valid_choices(kind, tuple(there))}")
    module, function = there[kind].split(":")
    return getattr(import_module(module), function)
