"""Sets of tuples."""

from dataclasses import dataclass


@dataclass
class EventSet:
    """Tuples that travel together.

    Parameters
    ----------
    size
        Number of tuples.
    birth
        Mean time at which they entered, in seconds.
    totals
        Source tuples that they derive from, by source; a tuple counts once per path.
    since
        The tick in which the set was sent.
    """

    size: float
    birth: float
    totals: dict[int, float]
    since: int = -1

    def absorb(self, other: "EventSet") -> None:
        """Merge another set into this one."""
        both = merged([self, other])
        self.size, self.birth, self.totals = both.size, both.birth, both.totals

    def split(self, share: float) -> "EventSet":
        """Remove a share of the tuples, and return it as a set."""
        part = {source: share * total for source, total in self.totals.items()}
        taken = EventSet(share * self.size, self.birth, part)
        self.size -= taken.size
        self.totals = {source: total - part[source] for source, total in self.totals.items()}
        return taken


def merged(sets: list[EventSet]) -> EventSet:
    """Return one set with all tuples."""
    size = sum(one.size for one in sets)
    birth = sum(one.size * one.birth for one in sets) / size if size else 0.0
    totals: dict[int, float] = {}
    for one in sets:
        for source, total in one.totals.items():
            totals[source] = totals.get(source, 0.0) + total
    return EventSet(size, birth, totals)
