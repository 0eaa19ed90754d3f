"""Placers by name, with options: ``metis``, ``metis:parts=3``, ``fuser-oracle``.

Modules are imported when a placer of theirs is asked for.
"""

from collections.abc import Sequence
from dataclasses import fields
from importlib import import_module
from typing import Any, get_type_hints

from streamplace.errors import UsageError
from streamplace.nearest import hint, instead
from streamplace.placers.auto import Auto
from streamplace.placers.base import Partitioner, Placer
from streamplace.placers.oracle import Oracle

PLACERS = {
    "single": "streamplace.placers.simple:Single",
    "round-robin": "streamplace.placers.simple:RoundRobin",
    "random": "streamplace.placers.simple:Random",
    "greedy": "streamplace.placers.greedy:Greedy",
    "metis": "streamplace.placers.metis:Metis",
    "metis-recursive": "streamplace.placers.metis:MetisRecursive",
    "fuser": "streamplace.placers.fuser:Fuser",
    "search": "streamplace.placers.search:Search",
    "multilevel": "streamplace.placers.multilevel:Multilevel",
    "exact": "streamplace.placers.exact:Exact",
    "policy": "streamplace.policy.placer:PolicyPlacer",
}
PARTITIONERS = ("metis", "metis-recursive", "fuser")
ORACLES = tuple(f"{name}-oracle" for name in PARTITIONERS)
AUTO_TRIES = (
    "greedy",
    "single",
    "metis-recursive-oracle",
    "metis-oracle",
    "metis-recursive-oracle:weights=utilisation",
    "metis-oracle:weights=utilisation",
    "fuser-oracle",
)
"""Whom `auto` asks before its policy."""
AUTO_POLICY = "policy:samples=16"
AUTO_TRIES_OF_LARGE = ("greedy", "multilevel", "metis:weights=utilisation", "single")
"""Whom `auto` asks about large graphs."""
FROM_START = ("auto", "search", "exact")
"""Who sets out from a placement, if one is given."""
OPTIONS_OF_AUTO = ("seconds", "evaluations")
NAMES = ("auto", *PLACERS, *ORACLES)


def make_placer(text: str) -> Placer:
    """Return the placer that a name with options stands for.

    Raises
    ------
    UsageError
        On an unknown name or option, or a value of the wrong type.
    """
    name, *options = text.split(":")
    if name in ORACLES:
        if any(option.startswith("parts") for option in options):
            raise UsageError(f"placer {text!r}: it tries every number of parts")
        inner = make_placer(":".join([name.removesuffix("-oracle"), *options]))
        if not isinstance(inner, Partitioner):
            raise UsageError(f"placer {name!r} has no number of parts to try")
        return Oracle(inner)
    if name == "auto":
        return Auto(
            tuple(make_placer(tried) for tried in AUTO_TRIES),
            tuple(make_placer(tried) for tried in AUTO_TRIES_OF_LARGE),
            _auto_policy,
            **_options(text, Auto, options, OPTIONS_OF_AUTO),
        )
    if name not in PLACERS:
        raise UsageError(f"no placer is called {name!r}{instead(name, NAMES)}")
    cls = _class_of(name)
    made: Placer = cls(**_options(text, cls, options, options_of(name)))
    return made


def options_of(name: str) -> tuple[str, ...]:
    """Return the options that a placer takes, by its name without options."""
    if name == "auto":
        return OPTIONS_OF_AUTO
    if name in ORACLES:
        return tuple(o for o in options_of(name.removesuffix("-oracle")) if o != "parts")
    return tuple(field.name for field in fields(_class_of(name)) if field.init)


def _class_of(name: str) -> type[Any]:
    module, attribute = PLACERS[name].split(":")
    found: type[Any] = getattr(import_module(module), attribute)
    return found


def with_limit(text: str, seconds: float) -> str:
    """Return the name of the same placer with a limit of time.

    Raises
    ------
    UsageError
        If it has none, or is given one already.
    """
    name, *options = text.split(":")
    if any(option.partition("=")[0] == "seconds" for option in options):
        raise UsageError(f"placer {text!r} has a limit of time already")
    make_placer(text)
    try:
        make_placer(f"{text}:seconds={seconds!r}")
    except UsageError:
        raise UsageError(f"placer {name!r} has no limit of time") from None
    return f"{text}:seconds={seconds!r}"


def _auto_policy() -> Placer:
    from streamplace.placers.ready import ready_placer  # noqa: PLC0415 - which imports this

    return ready_placer(AUTO_POLICY, "bottleneck")


def _options(text: str, cls: type, options: list[str], known: Sequence[str]) -> dict[str, Any]:
    types = get_type_hints(cls)
    given: dict[str, Any] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or key not in known:
            there = f"; options are {', '.join(known)}" if known else "; it takes no options"
            there = there if key in known else hint(key, known) or there
            raise UsageError(f"placer {text!r}: {option!r} is no option=value{there}")
        if key in given:
            raise UsageError(f"placer {text!r}: {key} stands twice")
        given[key] = _converted(text, key, value, types[key])
    return given


def _converted(text: str, key: str, value: str, wanted: Any) -> Any:
    for kind in (int, float):
        if wanted in (kind, kind | None):
            try:
                return kind(value)
            except ValueError:
                what = "a whole number" if kind is int else "a number"
                raise UsageError(f"placer {text!r}: {key} must be {what}") from None
    if not value:
        raise UsageError(f"placer {text!r}: {key} is empty")
    return value
