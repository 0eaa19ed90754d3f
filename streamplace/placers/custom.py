"""Placers of users: ``module:Class``, or a name that an installed package registers."""

import inspect
from typing import Any

from streamplace.errors import UsageError
from streamplace.placers.base import Placer
from streamplace.util import plugins

GROUP = "streamplace.placers"
NOUN = "placer"


def made(text: str, found: Any, options: list[str]) -> Placer:
    """Return the placer of a class with its options, or a function that is a placer itself.

    Raises
    ------
    UsageError
        If it is none, the options are not its own, or its constructor refuses them.
    """
    return checked(text, plugins.made(text, found, options, NOUN))


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
