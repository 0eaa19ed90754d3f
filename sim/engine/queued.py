"""What waits or is between devices at a restart: event sets by stream and source."""

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from sim.engine.event_sets import NOTHING, make_sets
from sim.engine.records import Records
from sim.engine.state import EngineState
from sim.flow import Floats, Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPARE = 2  # times as many sets as are in use


class Divided(Protocol):
    """What `sim.engine.restart.Parts` has: shares of new streams or sources in wholes."""

    @property
    def now(self) -> Ints:
        """(new,) number of the whole that each belongs to."""
        ...

    @property
    def share(self) -> Floats:
        """(new,) share of its whole."""
        ...


class Queued(NamedTuple):
    """N event sets by what they wait for, the oldest first, and then those between devices."""

    size: Floats  # (N,) tuples
    births: Floats  # (N,) sums of the times at which they entered their sources
    totals: Floats  # (N, S)
    whole: Ints  # (N,) number of the streams or sources that they wait at
    at_source: "NDArray[np.bool_]"  # (N,) whether they wait at a source
    away: "NDArray[np.bool_]"  # (N,) whether they are between devices

    def sent_again(self) -> "Queued":
        """Return the sets that are not between devices, then one set for each whole that are.

        Links serve all sets of one tick evenly and split each of them, and there is room for one of
        each stream.
        """
        whole, of = np.unique(self.whole[self.away], return_inverse=True)
        stay, count = ~self.away, len(whole)
        totals = np.zeros((count, self.totals.shape[1]))
        np.add.at(totals, of.reshape(-1), self.totals[self.away])
        size, births = np.zeros(count), np.zeros(count)
        np.add.at(size, of.reshape(-1), self.size[self.away])
        np.add.at(births, of.reshape(-1), self.births[self.away])
        return Queued(
            np.append(self.size[stay], size),
            np.append(self.births[stay], births),
            np.vstack([self.totals[stay], totals]),
            np.append(self.whole[stay], whole).astype(np.int32),
            np.append(self.at_source[stay], np.zeros(count, np.bool_)),
            np.append(self.away[stay], np.ones(count, np.bool_)),
        )

    def with_columns(self, before: Ints, now: Ints) -> "Queued":
        """Return the sets with the columns of their totals in another order."""
        totals = np.zeros_like(self.totals)
        totals[:, now] = self.totals[:, before]
        return self._replace(totals=totals)


def queued_in(state: EngineState, streams: Ints, sources: Ints) -> Queued:
    """Return all sets of a state; those between devices are one set for each whole.

    Parameters
    ----------
    streams, sources
        Number of the whole that each stream, (E,), and each source belongs to; sources are in the
        order of their operators.
    """
    count, after = len(streams), state.sets["after"].tolist()
    rows, whole, at_source, away = list[int](), list[int](), list[bool](), list[bool]()
    numbers = state.operators["source"][state.operators["source"] >= 0]
    of_source = dict(zip(numbers.tolist(), sources.tolist(), strict=True))
    for which, head in enumerate(state.lists["head"][:-1].tolist()):
        i = head
        while i != NOTHING and which < state.first_backlog + len(numbers):
            rows.append(i)
            waits = which >= state.first_backlog
            at_source.append(waits)
            away.append(count <= which < state.first_backlog)
            whole.append(
                of_source[which - state.first_backlog]
                if waits
                else int(streams[int(state.sets["stream"][i])])
            )
            i = after[i]
    sets = state.sets[rows]
    order = np.argsort(sets["births"] / np.maximum(sets["size"], 1e-300), kind="stable")
    return Queued(
        sets["size"][order],
        sets["births"][order],
        state.totals[rows][order],
        np.array(whole, np.int32)[order],
        np.array(at_source, np.bool_)[order],
        np.array(away, np.bool_)[order],
    ).sent_again()


def new_lists(
    state: EngineState,
    queued: Queued,
    streams: Divided,
    sources: Divided,
    tick: int,
    *,
    tracked: bool,
) -> EngineState:
    """Return a state whose lists hold the sets, divided, and whose streams count them.

    Parameters
    ----------
    tracked
        Whether the totals of sets, which are per path, still hold.
    """
    count = len(state.streams)
    pieces: list[tuple[int, Ints, float, int]] = []  # list, rows, share, stream
    for e in range(count):
        own = ~queued.at_source & (queued.whole == streams.now[e])
        share, sends = float(streams.share[e]), int(state.streams["sends"][e])
        waiting = own if sends == 0 else own & ~queued.away
        state.streams["waiting"][e] = share * float(queued.size[waiting].sum())
        pieces.append((e, np.flatnonzero(waiting).astype(np.int32), share, e))
        if sends != 0:
            sent = np.flatnonzero(own & queued.away).astype(np.int32)
            state.streams["in_flight"][e] = share * float(queued.size[sent].sum())
            pieces.append((2 * count + sends, sent, share, e))
    numbers = state.operators["source"][state.operators["source"] >= 0].tolist()
    for s, whole, share in zip(numbers, sources.now.tolist(), sources.share, strict=True):
        rows = np.flatnonzero(queued.at_source & (queued.whole == whole)).astype(np.int32)
        pieces.append((state.first_backlog + s, rows, float(share), 0))
    return _filled(state, queued, pieces, tick, tracked=tracked)


def _filled(
    state: EngineState,
    queued: Queued,
    pieces: list[tuple[int, Ints, float, int]],
    tick: int,
    *,
    tracked: bool,
) -> EngineState:
    """Return the state with new sets in its lists; several pieces of a list follow each other."""
    needed = sum(len(rows) for _, rows, _, _ in pieces)
    room = max(len(state.sets), SPARE * needed)
    lists = state.first_backlog + len(state.sources)
    sets, totals, heads = make_sets(room, lists, state.totals.shape[1])
    used = 0
    for which, rows, share, stream in pieces:
        if not len(rows) or share == 0.0:
            continue
        end = used + len(rows)
        part: Records = sets[used:end]
        part["size"], part["births"] = share * queued.size[rows], share * queued.births[rows]
        part["stream"], part["since"] = stream, tick - 1
        if tracked:
            totals[used:end] = queued.totals[rows]
        part["after"] = np.arange(used + 1, end + 1)
        part["after"][-1] = NOTHING
        if heads["tail"][which] == NOTHING:
            heads["head"][which] = used
        else:
            sets["after"][heads["tail"][which]] = used
        heads["tail"][which] = end - 1
        used = end
    heads[-1] = (used, room - used)
    return state._replace(sets=sets, totals=totals, lists=heads)
