"""Seconds per tuple by kind of device, instead of instructions, and names of slow kinds."""

import re
from collections.abc import Mapping
from functools import lru_cache
from math import isfinite
from typing import NamedTuple

from streamplace.errors import StreamplaceError
from streamplace.problem.resources import NamedValues, check_name
from streamplace.util.checks import check_number, check_type

_SLOW = re.compile(r"(.+) at ([0-9.e-]+) of its speed", re.DOTALL)
MAX_SECONDS = 1e15
SLOWEST = 1e-300  # least share of a kind's speed, so that times remain finite


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


class Seconds(NamedValues[float | None]):
    """Seconds per tuple by kind of device, such as ``{"cpu": 0.02, "gpu": 0.001}``.

    None marks a kind of device on which the operator cannot run. A slow kind, such as ``gpu at
    0.5 of its speed``, has the times of ``gpu`` divided by 0.5 unless it has its own; see
    `slow_kind`. Kinds are sorted; the mapping is immutable and hashable.

    Parameters
    ----------
    by_kind
        Kind of device -> seconds per tuple, or None.
    where
        The place that messages begin with.
    fault
        The error to raise.

    Raises
    ------
    StreamplaceError
        As `fault`, if `by_kind` is not a mapping, a kind is empty or not valid text, or a time is
        not None and not a number from 0 to 1e15.
    """

    __slots__ = ()

    def __init__(
        self,
        by_kind: Mapping[str, float | None],
        where: str = "seconds_on",
        fault: type[StreamplaceError] = StreamplaceError,
    ) -> None:
        check_type(f"{where}:", by_kind, Mapping, fault, 'for example {"cpu": 0.02, "gpu": 0.001}')
        for kind, time in by_kind.items():
            _check(kind, time, where, fault)
        times = ((kind, by_kind[kind]) for kind in sorted(by_kind))
        self._values = {kind: None if time is None else float(time) + 0.0 for kind, time in times}

    def __getitem__(self, kind: str | None) -> float | None:
        if kind is None:  # a device without a kind
            raise KeyError(kind)
        named, share = kind, 1.0
        while named not in self._values:
            slow = slowness(named)
            if slow is None:
                raise KeyError(kind)
            named, share = slow.kind, share * slow.share
        seconds = self._values[named]
        return None if seconds is None else min(seconds / max(share, SLOWEST), MAX_SECONDS)

    @property
    def has_times(self) -> bool:
        """Whether there is a kind of device with a time."""
        return any(time is not None for time in self._values.values())

    def runs_on(self, kind: str | None, *, with_instructions: bool) -> bool:
        """Return whether the operator runs on devices of a kind.

        Parameters
        ----------
        kind
            The kind of the device; None: it has none.
        with_instructions
            Whether the operator has instructions, which count where no time is stated.
        """
        if kind is None or kind not in self:
            return with_instructions
        return self[kind] is not None


NO_SECONDS = Seconds({})


def _check(kind: object, time: object, where: str, fault: type[StreamplaceError]) -> None:
    """Refuse a kind or a time that is not valid."""
    check_name(f"{where}: the name of a kind", kind, fault)
    if time is None:
        return
    what = f"{where}[{kind!r:.40}]"
    check_number(what, time, fault)
    seconds = float(time)  # type: ignore[arg-type]  # it is a number
    if not (isfinite(seconds) and 0 <= seconds <= MAX_SECONDS):
        raise fault(f"{what} must be 0 to {MAX_SECONDS:g}, or None (got {seconds:g})")
