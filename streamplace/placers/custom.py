"""Custom placers: ``module:Class``, or a name that an installed package registers."""

from typing import Any

from streamplace.placers.base import Placer
from streamplace.util import plugin_calls

GROUP = "streamplace.placers"
NOUN = "placer"


def build(text: str, loaded: Any, options: list[str]) -> Placer:
    """Return a custom placer: an instance of a class with options, or a function as it is.

    Raises
    ------
    UsageError
        If the result is not a placer, an option is unknown, or the constructor refuses the options.
    """
    return checked(text, plugin_calls.made(text, loaded, options, NOUN))


def checked(text: str, loaded: Any) -> Placer:
    """Return the loaded object if it can be called with a placer's arguments.

    Raises
    ------
    UsageError
        If it cannot.
    """
    plugin_calls.check_call(text, loaded, NOUN, ("problem", "rng", "start"))
    placer: Placer = loaded
    return placer
