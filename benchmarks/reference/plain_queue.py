"""A queue that is worked off step by step, in plain Python."""

from collections.abc import Sequence


def plain_queue(
    waiting: float, offered: Sequence[float], capacity: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Return what waits after each step, and what is served in it."""
    after, served = [], []
    for come, can in zip(offered, capacity, strict=True):
        done = min(waiting + come, can)
        waiting += come - done
        after.append(waiting)
        served.append(done)
    return after, served
