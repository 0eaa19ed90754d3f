"""The check whether a placer starts from a placement."""

from streamplace.errors import UsageError
from streamplace.placers.base import MayRefine, Placer
from streamplace.placers.registry import FROM_START, is_ours, make_placer
from streamplace.problem.placement import Placement


def check_start(placer: str | Placer, start: Placement | None) -> None:
    """Refuse an initial placement for a placer that would not use it.

    Raises
    ------
    UsageError
        If `start` is not None and the placer does not accept an initial placement.
    """
    if start is not None and not _accepts_start(placer):
        accepting = ", ".join(FROM_START)
        raise UsageError(
            f"placer {placer!r} does not accept an initial placement; choose from {accepting}, or "
            "a policy that refines placements"
        )


def _accepts_start(placer: str | Placer) -> bool:
    """Return whether a placer may use an initial placement; every custom placer may."""
    if not isinstance(placer, str) or not is_ours(placer):
        return True
    if placer.partition(":")[0] in FROM_START:
        return True
    made = make_placer(placer)
    return isinstance(made, MayRefine) and made.uses_start
