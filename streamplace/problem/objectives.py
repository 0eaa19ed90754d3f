"""The registry of objectives, built-in, of packages and ``module:Class``; names of orders."""

import sys
from dataclasses import fields
from functools import cache
from importlib.metadata import EntryPoint
from operator import attrgetter
from typing import Any, Literal, TypeAlias, get_args

from streamplace.errors import UsageError
from streamplace.problem.objective import Objective, Throughput
from streamplace.util import plugins
from streamplace.util.plugins import parameters_of, read_options
from streamplace.util.suggest import valid_choices

GROUP = "streamplace.objectives"
NOUN = "objective"
OBJECTIVES = {
    "throughput": "streamplace.problem.objective:Throughput",
    "makespan": "streamplace.problem.makespan:Makespan",
    "total-cost": "streamplace.makespan.total_cost:TotalCost",
}
"""The built-in objectives, by name."""
OrderName: TypeAlias = Literal[
    "lexico",
    "topo-lifo",
    "topo-level",
    "reversed-topo-lifo",
    "reversed-topo-level",
    "dfs-preorder",
    "dfs-postorder",
    "bfs",
    "random",
    "heaviest-operator",
    "heaviest-stream",
    "b-level",
    "by-depth",
    "by-path",
]
"""A traversal order; docs/orders.md describes each."""

ORDERS: tuple[str, ...] = get_args(OrderName)
"""The names of all orders."""

_READABLE: dict[Any, str] = {
    **dict.fromkeys((bool, bool | None), "True or False"),
    **dict.fromkeys((int, int | None), "a whole number"),
    **dict.fromkeys((float, float | None), "a number"),
    str: "text that is not empty and has no ':'",
}


def objective_names() -> list[str]:
    """Return the names of the built-in objectives, then those of installed packages."""
    return plugins.names_of(GROUP, OBJECTIVES)


def make_objective(text: str, from_file: bool = False) -> Objective:
    """Return the objective that `text`, a name with options, describes.

    Source rates, model and target utilisation are not options; they have their default values.

    Parameters
    ----------
    from_file
        Whether the text comes from a file. Modules that only a file names are not imported.

    Raises
    ------
    UsageError
        On an unknown name or option, a value of the wrong type, or a class that is not an
        objective.
    ProblemError
        If an option of a built-in objective is out of range.
    """
    if plugins.is_ours(text, OBJECTIVES, from_file):
        name, *options = text.split(":")
        found = plugins.load_ours(OBJECTIVES[name])
    else:
        found, options = plugins.find(text, NOUN, GROUP, OBJECTIVES, from_file=from_file)
    if not (isinstance(found, type) and issubclass(found, Objective)):
        raise UsageError(
            f"{NOUN} {text!r}: is no objective, such as a subclass of streamplace.Throughput"
        )
    cls: Any = found
    arguments = read_options(text, options, _options_of(cls), NOUN)
    if is_built_in(cls):
        own: Objective = cls(**arguments)
        return own
    with plugins.named_fault(NOUN, text, "its constructor failed"):
        made: Objective = cls(**arguments)
    return made


def is_built_in(cls: type) -> bool:
    """Return whether a class is a built-in objective itself, and not one that derives from it."""
    return f"{cls.__module__}:{cls.__qualname__}" in OBJECTIVES.values()


def name_of_objective(objective: Objective) -> str:
    """Return the name of an objective without its options; see `text_of`."""
    return _name_of(type(objective))


def text_of(objective: Objective) -> str:
    """Return the name of an objective with its options, as `make_objective` reads it.

    The name is that of a built-in objective, that of an installed package's entry point, or else
    ``module:Class``.
    """
    cls: Any = type(objective)
    changed = (f"{name}={_as_text(value)}" for name, value in _options_set(objective).items())
    return ":".join([_name_of(cls), *changed])


def check_text(objective: Objective) -> None:
    """Refuse an objective whose options cannot be read back from its text.

    Raises
    ------
    UsageError
        If the objective has no name, or if the text of an option's value cannot be read, or is read
        as another value.
    """
    cls: Any = type(objective)
    types = _options_of(cls)
    for name, value in _options_set(objective).items():
        if not _is_read_back(name, value, types[name]):
            raise UsageError(
                f"{NOUN} {_name_of(cls)!r}: {name}={value!r:.80} cannot be written to "
                f"a file; choose {_READABLE.get(types[name], _READABLE[str])}"
            )


def only_throughput(objective: Objective, what: str) -> None:
    """Refuse a custom objective where only throughput is supported.

    Parameters
    ----------
    what
        The beginning of the message, such as ``confidence supports only throughput``.

    Raises
    ------
    UsageError
        If the objective is another one than `Throughput` itself.
    """
    if not objective.follows_loads:
        raise UsageError(f"{what}, not objective {text_of(objective)!r}")


@cache
def _options_of(cls: type[Objective]) -> dict[str, Any]:
    """Return the types of a class's options by name; fields of `Throughput` itself are none."""
    shared = {field.name for field in fields(Throughput) if cls.has_rates}
    return {name: kind for name, kind in parameters_of(cls).items() if name not in shared}


def _options_set(objective: Objective) -> dict[str, object]:
    """Return the values of the options that differ from their defaults, by name."""
    cls: Any = type(objective)
    values = {name: getattr(objective, name) for name in _options_of(cls)}
    return {name: value for name, value in values.items() if value != _default(cls, name)}


def _is_read_back(name: str, value: object, kind: Any) -> bool:
    text = _as_text(value)
    try:
        read = read_options(name, [f"{name}={text}"], {name: kind}, NOUN)
    except UsageError:
        return False
    return ":" not in text and bool(read[name] == value)


def _default(cls: type[Objective], name: str) -> object:
    return next(field.default for field in fields(cls) if field.name == name)


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def _name_of(cls: type[Objective]) -> str:
    path = f"{cls.__module__}:{cls.__qualname__}"
    built_in = (name for name, own in OBJECTIVES.items() if own == path)
    of_packages = (
        name
        for name, point in plugins.installed(GROUP).items()
        if name not in OBJECTIVES and _object_if_imported(point) is cls
    )
    return next(built_in, None) or next(of_packages, path)


def _object_if_imported(point: EntryPoint) -> object:
    """Return the object of an entry point if its module is imported already; do not import it."""
    try:
        return attrgetter(point.attr)(sys.modules[point.module])
    except (KeyError, AttributeError):
        return None


def check_order(name: str) -> None:
    """Raise a UsageError if there is no order of this name."""
    if name not in ORDERS:
        raise UsageError(f"unknown order {name!r:.80}{valid_choices(name, ORDERS)}")
