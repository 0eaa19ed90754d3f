"""Kinds of devices that are slower than another kind, by their names."""

import re
from functools import lru_cache
from typing import NamedTuple

_SLOW = re.compile(r"(.+) at ([0-9.e-]+) of its speed", re.DOTALL)


class Slowness(NamedTuple):
    """The kind that a slow kind derives from, and the share of its speed that is left."""

    kind: str
    share: float  # above 0, at most 1


def slow_kind(kind: str, share: float) -> str:
    """Return the name of a kind at a share of its speed, such as ``gpu at 0.5 of its speed``.

    Parameters
    ----------
    share
        Above 0, at most 1; at 1, the kind is not slow.
    """
    return kind if share == 1.0 else f"{kind} at {float(share)!r} of its speed"


@lru_cache(maxsize=1024)
def slowness(kind: str) -> Slowness | None:
    """Return what the name of a slow kind says; None if it is not such a name."""
    found = _SLOW.fullmatch(kind)
    if found is None:
        return None
    try:
        share = float(found[2])
    except ValueError:
        return None
    return Slowness(found[1], share) if 0.0 < share <= 1.0 else None
