"""Sets of tuples."""

from dataclasses import dataclass


@dataclass
class EventSet:
    """Tuples that travel together, when they entered on average, and by which paths they came."""

    size: float
    birth: float
    totals: dict[int, float]
    since: int = -1  # the tick in which it was sent

    def absorb(self, other: "EventSet") -> None:
        """Take another in."""
        both = merged([self, other])
        self.size, self.birth, self.totals = both.size, both.birth, both.totals

    def split(self, share: float) -> "EventSet":
        """Take a share out."""
        part = {source: share * total for source, total in self.totals.items()}
        taken = EventSet(share * self.size, self.birth, part)
        self.size -= taken.size
        self.totals = {source: total - part[source] for source, total in self.totals.items()}
        return taken


def merged(sets: list[EventSet]) -> EventSet:
    """Return all of them as one."""
    size = sum(one.size for one in sets)
    birth = sum(one.size * one.birth for one in sets) / size if size else 0.0
    totals: dict[int, float] = {}
    for one in sets:
        for source, total in one.totals.items():
            totals[source] = totals.get(source, 0.0) + total
    return EventSet(size, birth, totals)
