"""Objects of users: ``module:Class``, or a name that an installed package registers.

A module is imported if a user typed its name or an installed package registers it, never because a
file names it. A noun, such as ``placer``, begins every message.
"""

import re
import sys
from collections.abc import Collection, Container, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from streamplace.errors import StreamplaceError, UsageError
from streamplace.util.out_of_memory import is_out_of_memory
from streamplace.util.suggest import valid_choices

_DOTTED = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_CUSTOM = re.compile(rf"({_DOTTED}):({_DOTTED})(?::(.*))?", re.DOTALL)


def is_custom(text: str) -> bool:
    """Return whether text is ``module:Class``, with options or without, by its form alone.

    An option has an equals sign and a class has none, so it cannot be a name with options.
    """
    return _CUSTOM.fullmatch(text) is not None


def parts_of(text: str) -> tuple[str, list[str]]:
    """Return the name, ``module:Class`` or any other, and the options that follow."""
    match = _CUSTOM.fullmatch(text)
    if match is None:
        name, *options = text.split(":")
        return name, options
    return f"{match[1]}:{match[2]}", [] if match[3] is None else match[3].split(":")


def is_missing(module: str) -> bool:
    """Return whether there is no such module; it is imported to find out."""
    with _here():
        try:
            import_module(module)
        except ModuleNotFoundError as error:
            return error.name is not None and f"{module}.".startswith(f"{error.name}.")
        except Exception:  # the module exists; the message of `load` says what is wrong
            return False
    return False


def load(text: str, path: str, noun: str) -> Any:
    """Return what a path, ``module:Class``, names. Modules of the current folder come first.

    Parameters
    ----------
    text
        What was typed, for messages.

    Raises
    ------
    UsageError
        If there is no such module or class, or the module cannot be imported.
    """
    module, _, path = path.partition(":")
    with named_fault(noun, text, f"importing {module} failed"), _here():
        found: Any = import_module(module)
    where = getattr(found, "__file__", None)
    for name in path.split("."):
        if not hasattr(found, name):
            there = f" ({where})" if where else ""
            raise UsageError(f"{noun} {text!r}: module {module!r}{there} has no {path!r}")
        found = getattr(found, name)
    return found


def load_ours(path: str) -> Any:
    """Return what a path of ours, ``module:object``, names."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def installed(group: str) -> dict[str, EntryPoint]:
    """Return what installed packages register in a group of entry points, by name."""
    return {point.name: point for point in sorted(entry_points(group=group), reverse=True)}


def load_installed(point: EntryPoint, noun: str) -> Any:
    """Return what an entry point stands for.

    Raises
    ------
    UsageError
        If it cannot be loaded.
    """
    with named_fault(noun, point.name, f"loading {point.value} failed"):
        return point.load()


def names_of(group: str, ours: Iterable[str]) -> list[str]:
    """Return our names, then those that installed packages add to them."""
    own = list(ours)
    return [*own, *sorted(installed(group).keys() - set(own))]


def is_ours(text: str, ours: Container[str], from_file: bool = False) -> bool:
    """Return whether a name with options is one of ours, which no module or package replaces.

    ``metis:parts`` is, with a slip in its option, unless there is a module ``metis``.
    """
    name = text.partition(":")[0]
    return name in ours and (not is_custom(text) or from_file or is_missing(name))


def find(
    text: str,
    noun: str,
    group: str,
    ours: Collection[str],
    *,
    from_file: bool = False,
    form: str = "module:Class",
) -> tuple[Any, list[str]]:
    """Return what a name that is not ours stands for, and the options that follow it.

    Parameters
    ----------
    text
        ``module:Class`` or the name of an entry point, perhaps with options.
    group
        The entry points of installed packages.
    ours
        Our names, which a message lists too.
    from_file
        Whether the text comes from a file: no module is imported because a file names it.
    form
        The form of what users write, for messages.

    Raises
    ------
    UsageError
        If there is no such name, or what it stands for cannot be loaded.
    """
    name, options = parts_of(text)
    if is_custom(text):
        if from_file:
            raise UsageError(f"{noun} {text!r}: a file cannot name a module; type it")
        return load(text, name, noun), options
    there = installed(group)
    if name not in there:
        choices = valid_choices(name, names_of(group, ours))
        own = "" if from_file else f" (your own are {form})"
        raise UsageError(f"no {noun} is called {name!r}{choices}{own}")
    return load_installed(there[name], noun), options


@contextmanager
def named_fault(noun: str, text: str, what: str = "", place: str = "") -> Iterator[None]:
    """Turn whatever a user's code raises into one line.

    Parameters
    ----------
    what
        What failed; a `StreamplaceError` has a message of its own.
    place
        Where, as ``graph 3``.
    """
    who = ": ".join(filter(None, (f"{noun} {text!r}", place)))
    try:
        yield
    except StreamplaceError as error:
        raise UsageError(f"{who}: {error}") from None
    except (Exception, SystemExit) as error:
        if is_out_of_memory(error):
            raise MemoryError from None
        message = " ".join(str(error).split())
        of_user = f"{type(error).__name__}: {message}"
        raise UsageError(": ".join(filter(None, (who, what, of_user)))) from error


@contextmanager
def _here() -> Iterator[None]:
    """Look for modules in the current folder first, as `python -m` does.

    Afterwards it is looked at last: what such a module imports later is found, and no file there
    stands in for a library.
    """
    folder = str(Path.cwd())
    if sys.path[:1] in ([""], [folder]):  # as in an interpreter
        yield
        return
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)
