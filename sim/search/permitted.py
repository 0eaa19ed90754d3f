"""Which moves of units the constraints and the limits of devices permit."""

from sim.jit import bare
from sim.search.instance import Instance, clash
from sim.search.state import SearchState


@bare
def may_move(instance: Instance, now: SearchState, u: int, b: int, leaving: int) -> bool:
    """Return whether unit u may go to device b; `leaving` is a unit about to move, or -1."""
    return _obeys(instance, now, u, b, leaving) and _fits(instance, now, u, b, leaving, -1)


@bare
def may_follow(instance: Instance, now: SearchState, u: int, b: int, other: int, c: int) -> bool:
    """Return whether another unit may go to device c once unit u is on device b."""
    if not _fits(instance, now, other, c, u, u if b == c else -1):
        return False
    a = now.on[u]
    now.on[u] = b
    obeys = _obeys(instance, now, other, c, -1)
    now.on[u] = a
    return obeys


@bare
def _obeys(instance: Instance, now: SearchState, u: int, b: int, leaving: int) -> bool:
    """Return whether the mask and the rivals of unit u, except `leaving`, let it go to device b."""
    if not instance.allowed[instance.row_of[u], b]:
        return False
    for i in range(instance.first_rival[u], instance.first_rival[u + 1]):
        rival = instance.rival[i]
        if rival != leaving and clash(instance, i, b, now.on[rival]):
            return False
    return True


@bare
def _fits(
    instance: Instance, now: SearchState, u: int, b: int, leaving: int, arriving: int
) -> bool:
    """Return whether device b has room for unit u after two units have moved, -1 for none."""
    leaves_b = leaving >= 0 and now.on[leaving] == b
    for k in range(instance.room.shape[1]):
        used = now.used[b, k]
        if leaves_b:
            used -= instance.needs[leaving, k]
        if arriving >= 0:
            used += instance.needs[arriving, k]
        if used + instance.needs[u, k] > instance.room[b, k]:
            return False
    return True
