"""Custom placers: ``module:Class``, or a name that an installed package registers."""

from collections.abc import Mapping
from typing import Any

from streamplace.placers.base import Placer
from streamplace.util import plugins

GROUP = "streamplace.placers"
NOUN = "placer"


def options_of(text: str, loaded: Any, options: list[str]) -> dict[str, Any]:
    """Return the options of a custom placer; only a class has any.

    Raises
    ------
    UsageError
        If an option is unknown, or its value cannot be read.
    """
    known = plugins.parameters_of(loaded) if isinstance(loaded, type) else {}
    return plugins.read_options(text, options, known, NOUN)


def build(loaded: Any, text: str, options: Mapping[str, Any]) -> Placer:
    """Return a custom placer: an instance of a class with options, or a function as it is.

    Raises
    ------
    UsageError
        If the result is not a placer, or the constructor refuses the options.
    """
    if isinstance(loaded, type):
        loaded = plugins.constructed(text, loaded, options, NOUN)
    return checked(text, loaded)


def checked(text: str, loaded: Any) -> Placer:
    """Return the loaded object if it can be called with a placer's arguments.

    Raises
    ------
    UsageError
        If it cannot.
    """
    plugins.check_call(text, loaded, NOUN, ("problem", "rng", "start"))
    placer: Placer = loaded
    return placer
