"""Restarts: the state of a run, carried over to another placement or other instances.

As after a restore from a savepoint, what waits before an operator is divided among its new
instances, in proportion to the tuples that they are expected to process; the content of windows and
what waits at sources likewise. What was between two devices returns to its sender, which sends it
again. Counters are divided in the same way, so that their sums over the instances of an operator,
and over the streams between two operators, go on. Only links, which are others, count from 0.

Where numbers of instances change, source tuples per path to a sink count from 0, because the paths
are others. A stream that copies tuples to all instances of its target is divided like others.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from benchmarks.control.restarts.checkpoint import Checkpoint
from streamplace.sim.engine.event_sets import NOTHING, make_sets
from streamplace.sim.engine.records import EngineState, Records
from streamplace.sim.engine.snapshots import Snapshot
from streamplace.sim.flow import Floats, Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPARE = 2  # times as many sets as are in use


class Divided(Protocol):
    """What `Parts` has: shares of new streams or sources in wholes."""

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


class Parts(NamedTuple):
    """The division of old streams, sources or operators among new ones, by what they belong to."""

    before: Ints  # (old,) number of the whole that each belongs to
    now: Ints  # (new,)
    share: Floats  # (new,) share of its whole; the shares of a whole sum to 1

    @classmethod
    def of(cls, before: Ints, now: Ints, weight: Floats, what: str) -> "Parts":
        """Return a division in proportion to weights, (new,); equal if a whole has none.

        Raises
        ------
        ValueError
            If something of the old is not among the new.
        """
        if missing := sorted({*before.tolist()} - {*now.tolist()}):
            raise ValueError(f"operators: the flow has no {what} for number {missing[0]}")
        count = int(now.max(initial=-1)) + 1
        total, members = np.bincount(now, weight, count), np.bincount(now, minlength=count)
        even = 1.0 / np.maximum(members, 1)
        with np.errstate(invalid="ignore"):
            share = np.where(total[now] > 0.0, weight / total[now], even[now])
        return cls(before, now, share)

    def divided(self, values: Floats) -> Floats:
        """Return what each of the new has of the sums over the old, (new,)."""
        count = max(int(self.now.max(initial=-1)), int(self.before.max(initial=-1))) + 1
        found: Floats = np.bincount(self.before, values, count)[self.now] * self.share
        return found


def carry_over(
    old: Checkpoint, new: Checkpoint, expected: Floats, operators: tuple[Ints, Ints] | None
) -> Checkpoint:
    """Return `new`, a checkpoint with an empty state, with all that `old` holds.

    Parameters
    ----------
    expected
        (E,) tuples/s expected on each of the new streams, in their places.
    operators
        See `Simulation.resume`.

    Raises
    ------
    ValueError
        If the flows do not have the same operators and number of devices.
    """
    before, now = _operators(old, new, operators)
    if len(old.state.devices) != len(new.state.devices):
        counts = f"{len(new.state.devices)}, and the checkpoint {len(old.state.devices)}"
        raise ValueError(f"flow: must have as many devices as the checkpoint (it has {counts})")
    state, flow = new.state, new.flow
    joined = _streams(old, new, before, now, same=operators is None)
    streams = Parts.of(*joined, expected, "stream")
    rates = np.bincount(flow.target, expected, len(now)) + flow.source_tuples
    instances = Parts.of(before, now, rates, "instance")
    fed = [np.flatnonzero(s.operators["source"] >= 0) for s in (old.state, state)]
    sources = Parts.of(before[fed[0]], now[fed[1]], flow.source_tuples[fed[1]], "source")
    same = operators is None
    _carry_sources(old.state, state, sources)
    sets = queued_in(old.state, streams.before, sources.before)
    if same:
        sets = sets.with_columns(old.order.tracked, new.order.tracked)
    state = new_lists(state, sets, streams, sources, old.tick, tracked=same)
    state.streams["taken"] = streams.divided(old.state.streams["taken"])
    held = state.streams["waiting"] + state.streams["in_flight"]
    state.streams["sent"] = state.streams["taken"] + held
    state.streams["left"] = state.streams["waiting"]
    _carry_operators(old.state, state, instances, flow.target)
    for name in ("busy_s", "stalled_s"):
        state.devices[name] = old.state.devices[name]
    _carry_windows(old.state, state, instances)
    if same:
        columns = np.ix_(new.order.sinks, new.order.tracked)
        state.reached[columns] = old.state.reached[np.ix_(old.order.sinks, old.order.tracked)]
    return replace(new, state=state, since=Snapshot.of(state, old.tick, new.order))


def _operators(
    old: Checkpoint, new: Checkpoint, operators: tuple[Ints, Ints] | None
) -> tuple[Ints, Ints]:
    """Return the number of the operator that each old and each new instance belongs to."""
    counts = len(old.devices), len(new.devices)
    if operators is None:
        if counts[0] != counts[1]:
            raise ValueError(
                f"operators: must be set where numbers of instances change (from {counts[0]} to "
                f"{counts[1]})"
            )
        each = np.arange(counts[0], dtype=np.int32)
        operators = each, each
    found = []
    for numbers, count, places in zip(operators, counts, (old.places, new.places), strict=True):
        each = np.asarray(numbers)
        if each.shape != (count,) or each.dtype.kind != "i" or each.min(initial=0) < 0:
            raise ValueError(f"operators: must be {count} numbers of at least 0 for each flow")
        found.append(each.astype(np.int32)[places.operator])
    return found[0], found[1]


def _streams(
    old: Checkpoint, new: Checkpoint, before: Ints, now: Ints, *, same: bool
) -> tuple[Ints, Ints]:
    """Return the number of what each old and each new stream belongs to.

    With the same instances it is the stream itself, and otherwise its pair of operators.
    """
    whole = int(max(before.max(), now.max())) + 1
    pairs = [
        of[flow.source].astype(np.int64) * whole + of[flow.target]
        for of, flow in ((before, old.flow), (now, new.flow))
    ]
    if same:
        places = old.places.stream, new.places.stream
        first, second = (pair[np.argsort(at)] for pair, at in zip(pairs, places, strict=True))
        if not np.array_equal(first, second):
            raise ValueError("operators: must be set where the flows have other streams")
        return places
    _, compact = np.unique(np.concatenate(pairs), return_inverse=True)
    joined = compact.reshape(-1).astype(np.int32)
    return joined[: len(pairs[0])], joined[len(pairs[0]) :]


def _carry_sources(old: EngineState, new: EngineState, sources: Parts) -> None:
    """Divide the counters of sources; `sources` is in the order of their operators."""
    numbers = [s.operators["source"][s.operators["source"] >= 0] for s in (old, new)]
    for name in ("offered", "dropped", "backlog"):
        new.sources[name][numbers[1]] = sources.divided(old.sources[name][numbers[0]])


def _carry_operators(old: EngineState, new: EngineState, parts: Parts, target: Ints) -> None:
    """Divide seconds, and count as processed what each instance has taken."""
    for name in ("busy_s", "blocked_s"):
        new.operators[name] = parts.divided(old.operators[name])
    taken = np.bincount(target, new.streams["taken"], len(new.operators)) * new.operators["part"]
    fed = new.operators["source"] >= 0
    of = new.sources[new.operators["source"][fed]]
    taken[fed] += of["offered"] - of["dropped"] - of["backlog"]
    new.operators["processed"] = taken


def _carry_windows(old: EngineState, new: EngineState, parts: Parts) -> None:
    """Divide the content of windows, slot by slot from the one that is being filled."""
    for v in np.flatnonzero(new.operators["window"] >= 0).tolist():
        w, share = int(new.operators["window"][v]), float(parts.share[v])
        members = np.flatnonzero(parts.before == parts.now[v])
        several = old.operators["window"][members].tolist()
        if min(several) < 0:
            raise ValueError(f"scene: operator {int(parts.now[v])} had no window")
        count = int(new.windows["slots"][w])
        into, first = new.windows[w], int(new.windows["first_slot"][w])
        begun = [old.windows[u] for u in several]
        if {int(one["slots"]) for one in begun} != {count}:
            raise ValueError(f"scene: the window of operator {int(parts.now[v])} has changed")
        into["closed"] = min(int(one["closed"]) for one in begun)
        into["due"] = min(int(one["due"]) for one in begun)
        into["slot"] = first + (int(into["closed"]) - 1) % count
        into["out"] = share * sum(float(one["out"]) for one in begun)
        into["out_births"] = share * sum(float(one["out_births"]) for one in begun)
        for one in begun:
            start = int(one["first_slot"])
            for age in range(count):
                source = start + (int(one["slot"]) - start - age) % count
                slot = first + (int(into["slot"]) - first - age) % count
                for name in ("tuples", "births"):
                    new.slots[name][slot] += share * float(old.slots[name][source])
