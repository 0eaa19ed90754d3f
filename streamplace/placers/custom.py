"""Placers of users: ``module:Class``, or a name that an installed package registers.

Nothing is imported but what somebody typed, or installed: files of ours name placers too, and
what they name is never looked up.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from streamplace.errors import StreamplaceError, UsageError
from streamplace.placers.base import Placer

Converter = Callable[[str, list[str], Mapping[str, Any]], dict[str, Any]]

GROUP = "streamplace.placers"
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
        except Exception:  # it is there, and `load` tells what is wrong with it
            return False
    return False


def load(text: str, path: str) -> Any:
    """Return what a path, ``module:Class``, names. Modules of the current folder come first.

    Raises
    ------
    UsageError
        If there is no such module or class, or the module cannot be imported.
    """
    module, _, path = path.partition(":")
    with _named_fault(text, f"importing {module} failed"), _here():
        found: Any = import_module(module)
    where = getattr(found, "__file__", None)
    for name in path.split("."):
        if not hasattr(found, name):
            there = f" ({where})" if where else ""
            raise UsageError(f"placer {text!r}: module {module!r}{there} has no {path!r}")
        found = getattr(found, name)
    return found


def installed() -> dict[str, EntryPoint]:
    """Return the placers of installed packages, by name: their entry points `GROUP`."""
    return {point.name: point for point in sorted(entry_points(group=GROUP), reverse=True)}


def load_installed(point: EntryPoint) -> Any:
    """Return what an entry point stands for.

    Raises
    ------
    UsageError
        If it cannot be loaded.
    """
    with _named_fault(point.name, f"loading {point.value} failed"):
        return point.load()


def made(text: str, found: Any, options: list[str], convert: Converter) -> Placer:
    """Return the placer of a class with its options, or a function that is a placer itself.

    Parameters
    ----------
    convert
        Makes keyword arguments of options, given the types of the parameters.

    Raises
    ------
    UsageError
        If it is none, the options are not its own, or its constructor refuses them.
    """
    is_class = isinstance(found, type)
    arguments = convert(text, options, _parameters(found) if is_class else {})
    if is_class:
        with _named_fault(text, "its constructor refuses"):
            found = found(**arguments)
    return checked(text, found)


def checked(text: str, found: object) -> Placer:
    """Return what is a placer by the arguments it takes.

    Raises
    ------
    UsageError
        If it is none.
    """
    wanted = "a placer is called with problem, rng and start"
    if isinstance(found, type) or not callable(found):
        raise UsageError(f"placer {text!r}: {_kind(found)} is no placer: {wanted}")
    try:
        inspect.signature(found).bind(None, None, None)
    except TypeError as error:
        raise UsageError(f"placer {text!r}: is no placer: {wanted}, but {error}") from None
    except ValueError:  # it tells no signature
        pass
    placer: Placer = found
    return placer


def _kind(found: object) -> str:
    return f"the class {found.__name__}" if isinstance(found, type) else f"a {type(found).__name__}"


def _parameters(cls: type) -> dict[str, Any]:
    """Return the type of each option of a class; text where none is told."""
    try:
        known = inspect.signature(cls, eval_str=True).parameters.values()
    except (NameError, TypeError, AttributeError):  # types that are known to checkers alone
        known = inspect.signature(cls).parameters.values()
    except ValueError:  # it tells no signature
        return {}
    named = (p for p in known if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
    return {p.name: str if p.annotation is p.empty else p.annotation for p in named}


@contextmanager
def _named_fault(text: str, what: str) -> Iterator[None]:
    """Turn whatever the user's code raises into one line."""
    try:
        yield
    except StreamplaceError as error:
        raise UsageError(f"placer {text!r}: {error}") from None
    except (Exception, SystemExit) as error:
        message = " ".join(str(error).split())
        raise UsageError(f"placer {text!r}: {what}: {type(error).__name__}: {message}") from error


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
