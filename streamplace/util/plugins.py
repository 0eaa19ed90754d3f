"""Users' objects, named ``module:Class`` or by the entry point of an installed package.

A module is imported only if a user typed its name or an installed package registers it, never
because a file names it. Every message begins with a noun, such as ``placer``.
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
from streamplace.util.suggest import did_you_mean, valid_choices

_DOTTED = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_CUSTOM = re.compile(rf"({_DOTTED}):({_DOTTED})(?::(.*))?", re.DOTALL)


def is_custom(text: str) -> bool:
    """Return whether text has the form ``module:Class``, with or without options.

    A class name has no equals sign and an option has one, so the form is unambiguous.
    """
    return _CUSTOM.fullmatch(text) is not None


def parts_of(text: str) -> tuple[str, list[str]]:
    """Return the name, ``module:Class`` or any other, and the options that follow it."""
    match = _CUSTOM.fullmatch(text)
    if match is None:
        name, *options = text.split(":")
        return name, options
    return f"{match[1]}:{match[2]}", [] if match[3] is None else match[3].split(":")


def is_missing(module: str) -> bool:
    """Return whether a module does not exist, by trying to import it."""
    with _current_folder_first():
        try:
            import_module(module)
        except ModuleNotFoundError as error:
            return error.name is not None and f"{module}.".startswith(f"{error.name}.")
        except Exception:  # the module exists; the message of `load` says what is wrong
            return False
    return False


def load(text: str, path: str, noun: str) -> Any:
    """Return the object at a path, ``module:Class``. Modules in the current folder come first.

    Parameters
    ----------
    text
        The text that the user typed, for messages.

    Raises
    ------
    UsageError
        If there is no such module or class, or the module cannot be imported.
    """
    module, _, path = path.partition(":")
    if module.endswith(".py"):
        name = f"{module.removesuffix('.py').replace('/', '.')}:{path}"
        raise UsageError(f"{noun} {text!r}: a module is named without .py, such as {name!r}")
    with named_fault(noun, text, f"importing {module} failed"), _current_folder_first():
        found: Any = import_module(module)
    file = getattr(found, "__file__", None)
    for name in path.split("."):
        if not hasattr(found, name):
            where = f" ({file})" if file else ""
            message = f"{noun} {text!r}: module {module!r}{where} has no {path!r}"
            raise UsageError(message + did_you_mean(name, dir(found)))
        found = getattr(found, name)
    return found


def load_ours(path: str) -> Any:
    """Return one of streamplace's own objects by its path, ``module:object``."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def installed(group: str) -> dict[str, EntryPoint]:
    """Return the entry points that installed packages register in a group, by name."""
    return {point.name: point for point in sorted(entry_points(group=group), reverse=True)}


def load_installed(point: EntryPoint, noun: str) -> Any:
    """Return the object of an entry point.

    Raises
    ------
    UsageError
        If it cannot be loaded.
    """
    with named_fault(noun, point.name, f"loading {point.value} failed"):
        return point.load()


def names_of(group: str, ours: Iterable[str]) -> list[str]:
    """Return the built-in names, then those that installed packages add."""
    own = list(ours)
    return [*own, *sorted(installed(group).keys() - set(own))]


def is_ours(text: str, ours: Container[str], from_file: bool = False) -> bool:
    """Return whether a name with options means a built-in object, which nothing can replace.

    ``metis:parts`` is the built-in name with a mistake in its option, unless a module ``metis``
    exists.
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
    """Return the object of a name that is not built in, and the options that follow it.

    Parameters
    ----------
    text
        ``module:Class`` or the name of an entry point, perhaps with options.
    group
        The group of entry points.
    ours
        The built-in names, which a message lists too.
    from_file
        Whether the text comes from a file; a module is never imported because a file names it.
    form
        The form in which users name their own objects, for messages.

    Raises
    ------
    UsageError
        If there is no such name, or its object cannot be loaded.
    """
    name, options = parts_of(text)
    if is_custom(text):
        if from_file:
            raise UsageError(
                f"{noun} {text!r}: a file cannot load a module; "
                "use the name that an installed package registers"
            )
        return load(text, name, noun), options
    registered = installed(group)
    if name not in registered:
        or_own = "" if from_file else f"or {form} for your own"
        choices = valid_choices(name, names_of(group, ours), or_own)
        raise UsageError(f"unknown {noun} {name!r}{choices}")
    return load_installed(registered[name], noun), options


@contextmanager
def named_fault(noun: str, text: str, what: str = "", place: str = "") -> Iterator[None]:
    """Turn every error that a user's code raises into a UsageError of one line.

    Parameters
    ----------
    what
        What failed; left out for a `StreamplaceError`, whose message is complete.
    place
        Where it failed, such as ``graph 3``.
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
        user_message = f"{type(error).__name__}: {message}"
        raise UsageError(": ".join(filter(None, (who, what, user_message)))) from error


@contextmanager
def _current_folder_first() -> Iterator[None]:
    """Look for modules in the current folder first, as `python -m` does.

    Afterwards the folder comes last, so that later imports by such a module work, but no file in
    the folder replaces a library.
    """
    folder = str(Path.cwd())
    if sys.path[:1] in ([""], [folder]):  # as in an interactive interpreter
        yield
        return
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)
