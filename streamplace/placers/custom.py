"""Placers of users: ``module:Class``, or a name that an installed package registers."""

from typing import Any

from streamplace.placers.base import Placer
from streamplace.util import plugin_calls

GROUP = "streamplace.placers"
NOUN = "placer"


def made(text: str, found: Any, options: list[str]) -> Placer:
    """Return the placer of a class with its options, or a function that is a placer itself.

    Raises
    ------
    UsageError
        If it is none, the options are not its own, or its constructor refuses them.
    """
    return checked(text, plugin_calls.made(text, found, options, NOUN))


def checked(text: str, found: Any) -> Placer:
    """Return what is a placer by the arguments it takes.

    Raises
    ------
    UsageError
        If it is none.
    """
    plugin_calls.check_call(text, found, NOUN, ("problem", "rng", "start"))
    placer: Placer = found
    return placer
