"""Links: the sets of tuples that wait for them, and their busy times."""

from collections import deque

from benchmarks.reference.engine.sets import EventSet
from benchmarks.reference.engine.streams import PlainStream


class Links:
    """All links of a network.

    Parameters
    ----------
    receiving
        The links that are the receiving sides of devices.
    shared
        The links that groups of devices send over, and then those over which they receive.
    """

    def __init__(
        self,
        streams: list[PlainStream],
        receiving: set[int],
        shared: tuple[set[int], set[int]],
        tick_s: float,
    ) -> None:
        self.later, self.tick_s = (*shared, receiving), tick_s
        self.waiting: dict[int, deque[tuple[int, PlainStream, EventSet]]] = {
            link: deque() for one in streams for link in one.links
        }
        # share of this tick in which a full queue held up a sender, by link
        self.held: dict[int, float] = {}
        self.busy_s: dict[int, float] = {}
        self.full_s: dict[int, float] = {}
        self.stalled_s: dict[int, float] = {}

    def join(self, link: int, tick: int, stream: PlainStream, one: EventSet) -> None:
        """Put a set on a link. All sets of one stream in one tick become one set."""
        waiting = self.waiting[link]
        for since, other, existing in waiting:
            if since == tick and other is stream:
                existing.absorb(one)
                return
        waiting.append((tick, stream, one))

    def serve(self, tick: int) -> None:
        """Let every link carry tuples for one tick."""
        first = set(self.waiting).difference(*self.later)
        for stage in (first, *self.later):
            for link in self.waiting:
                if link in stage:
                    self._serve(link, tick)

    def _serve(self, link: int, tick: int) -> None:
        """Let a link carry tuples for one tick.

        Sets that joined in the same tick share the link; those that joined earlier go first.
        """
        left, full = self.tick_s, False
        waiting = self.waiting[link]
        while waiting and left > 0:
            since = waiting[0][0]
            cohort = [item for item in waiting if item[0] == since]
            needed = sum(one.size * stream.seconds_on(link) for _, stream, one in cohort)
            share = min(1.0, left / needed) if needed else 1.0
            full = len(waiting) > len(cohort) and needed >= left
            full = full or needed - left > 1e-9 * self.tick_s
            left -= share * needed
            for _, stream, one in cohort:
                passing = one if share == 1 else one.split(share)
                after = stream.links.index(link) + 1
                if after < len(stream.links):
                    self.join(stream.links[after], tick, stream, passing)
                elif stream.delay:
                    stream.wire.append((tick + stream.delay, passing))
                else:
                    stream.arrive(passing)
            if share == 1:
                for _ in cohort:
                    waiting.popleft()
            else:
                left = 0.0
        idle = self.held.get(link, 0.0) * left
        for column, seconds in (
            (self.busy_s, self.tick_s - left),
            (self.full_s, self.tick_s if full else 0.0),
            (self.stalled_s, idle),
        ):
            column[link] = column.get(link, 0.0) + seconds
