"""Custom placers: ``module:Class``, or a name that an installed package registers."""

from typing import Any

from streamplace.placers.base import Placer
from streamplace.util import plugin_calls

GROUP = "streamplace.placers"
NOUN = "placer"


def build(text: str, found: Any, options: list[str]) -> Placer:
    """Return a custom placer: an instance of a class with options, or a function as it is.

    Raises
    ------
    UsageError
        If the result is not a placer, an option is unknown, or the constructor refuses the options.
    """
    return checked(text, plugin_calls.made(text, found, options, NOUN))


def checked(text: str, found: Any) -> Placer:
    """Return `found` if it accepts a placer's arguments.

    Raises
    ------
    UsageError
        If it does not.
    """
    plugin_calls.check_call(text, found, NOUN, ("problem", "rng", "start"))
    placer: Placer = found
    return placer
