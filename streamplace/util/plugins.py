"""Users' objects, named ``module:Class`` or by the entry point of an installed package.

A module is imported only if a user typed its name or an installed package registers it, never
because a file names it. Every message begins with a noun, such as ``placer``.
"""

import inspect
import re
import sys
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from streamplace.errors import StreamplaceError, UsageError
from streamplace.util.out_of_memory import is_out_of_memory
from streamplace.util.suggest import did_you_mean, valid_choices
from streamplace.util.text import without_commas

SECONDS = "seconds"  # the option of placers that is a time
LITERAL = inspect.Parameter.empty  # the type of an option without annotation
_DOTTED = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_CUSTOM = re.compile(rf"({_DOTTED}):({_DOTTED})(?::(.*))?", re.DOTALL)


def made(text: str, found: Any, options: list[str], noun: str) -> Any:
    """Return an instance of the class `found`, made with its options; or `found` if not a class.

    Raises
    ------
    UsageError
        If the class has no such options, or its constructor raises an error.
    """
    is_class = isinstance(found, type)
    arguments = read_options(text, options, parameters_of(found) if is_class else {}, noun)
    return constructed(text, found, arguments, noun) if is_class else found


def constructed(text: str, cls: type, arguments: Mapping[str, Any], noun: str) -> Any:
    """Return an instance of a user's class.

    Raises
    ------
    UsageError
        If its constructor raises an error.
    """
    with named_fault(noun, text, "its constructor failed"):
        return cls(**arguments)


def check_call(text: str, found: object, noun: str, arguments: Sequence[str]) -> None:
    """Refuse an object that cannot be called with these positional arguments.

    Raises
    ------
    UsageError
        If the object is a class, cannot be called, or takes other arguments.
    """
    *first, last = arguments
    expected = f"a {noun} is called with {', '.join(first)} and {last}"
    if isinstance(found, type) or not callable(found):
        raise UsageError(f"{noun} {text!r}: {_kind(found)} is not a {noun}: {expected}")
    try:
        signature = inspect.signature(found)
    except ValueError:  # it has none
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        takes = f"this one takes ({', '.join(signature.parameters)})"
        raise UsageError(f"{noun} {text!r}: is not a {noun}: {expected}, but {takes}") from None


def _kind(found: object) -> str:
    if isinstance(found, type):
        return f"the class {found.__name__}"
    return f"a value of type {type(found).__name__}"


def parameters_of(cls: type) -> dict[str, Any]:
    """Return the type of each parameter of a class.

    Without an annotation it is `str` if the default value is text, and otherwise `LITERAL`: the
    type is then that of the value.
    """
    try:
        known = inspect.signature(cls, eval_str=True).parameters.values()
    except (NameError, TypeError, AttributeError):  # types imported for type checkers only
        known = inspect.signature(cls).parameters.values()
    except ValueError:  # it has no signature
        return {}
    named = (p for p in known if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
    return {p.name: _type_of(p) for p in named}


def _type_of(parameter: inspect.Parameter) -> Any:
    if parameter.annotation is not parameter.empty:
        return parameter.annotation
    return str if isinstance(parameter.default, str) else LITERAL


def read_options(
    text: str, options: list[str], types: Mapping[str, Any], noun: str
) -> dict[str, Any]:
    """Return options, each ``option=value``, converted to the types of the known options.

    An option that is true or false may stand alone: ``option`` is ``option=true``.

    Raises
    ------
    UsageError
        On an unknown or repeated option, a missing value, or a value of the wrong type.
    """
    options_read: dict[str, Any] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if key not in types:
            own = "; the parameters of a class are options" if is_custom(text) else ""
            choices = valid_choices(key, tuple(types)) if types else f"; it has no options{own}"
            raise UsageError(f"{noun} {text!r}: unknown option {key!r}{choices}")
        if not equals and types[key] is bool:  # the option alone means true
            value = "true"
        elif not equals:
            raise UsageError(f"{noun} {text!r}: option {key!r} needs a value: {key}=VALUE")
        if key in options_read:
            raise UsageError(f"{noun} {text!r}: option {key!r} is repeated")
        options_read[key] = _converted(f"{noun} {text!r}: {key}", key, value, types[key])
    return options_read


def _converted(what: str, key: str, value: str, expected: Any) -> Any:
    if expected in (bool, bool | None):
        if value not in ("true", "false"):
            raise UsageError(f"{what} must be true or false (got {value!r})")
        return value == "true"
    for kind in (int, float):
        if expected in (kind, kind | None):
            with suppress(ValueError):
                return kind(value)
            number = "a whole number" if kind is int else "a number"
            number += " of seconds, such as 0.2" if key == SECONDS else ""
            meant = without_commas(value, kind)
            raise UsageError(f"{what} must be {number} (got {value!r}){meant}")
    if not value:
        raise UsageError(f"{what} must not be empty")
    return _literal(value) if expected is LITERAL else value


def _literal(value: str) -> bool | int | float | str:
    """Return a value as a bool (true, false), int or float if it reads as one, else as text."""
    if value in ("true", "false"):
        return value == "true"
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


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
            return _is_of(error, module)
        except Exception:  # the module exists; the message of `load` says what is wrong
            return False
    return False


def _import_existing(module: str) -> Any:
    """Return a module; refuse one that does not exist, with the names of those in the folder."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if not _is_of(error, module):
            raise
    here = [each.stem for each in Path.cwd().glob("*.py")]
    remedy = did_you_mean(module, here) or "; it is neither in this folder nor installed"
    raise UsageError(f"there is no module {module!r}{remedy}")


def _is_of(error: ModuleNotFoundError, module: str) -> bool:
    """Return whether an error says that a module, or a package above it, does not exist."""
    return error.name is not None and f"{module}.".startswith(f"{error.name}.")


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
        found: Any = _import_existing(module)
    file = getattr(found, "__file__", None)
    for name in path.split("."):
        if not hasattr(found, name):
            where = f" ({file})" if file else ""
            message = f"{noun} {text!r}: module {module!r}{where} has no {path!r}"
            usable = [each for each in dir(found) if callable(getattr(found, each, None))]
            raise UsageError(message + did_you_mean(name, usable))
        found = getattr(found, name)
    return found


def load_ours(path: str) -> Any:
    """Return an object that streamplace's code names by its path, ``module:object``.

    Raises
    ------
    UsageError
        If the folder of its package, or of one that its module imports, is not there.
    """
    module, _, name = path.partition(":")
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("streamplace."):
            raise  # a module of another package is not there
        raise UsageError(f"{error.name} is needed, and is not there") from error


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
        if "," in name:
            choices = f"; one {noun} is expected, and no comma"
        elif len(name.replace(";", " ").split()) > 1:
            choices = "; names are separated by commas, and options of a name by colons"
        elif name.partition("=")[0] in names_of(group, ours):
            choices = f"; options follow a colon, as in {name.partition('=')[0]}:OPTION=VALUE"
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
