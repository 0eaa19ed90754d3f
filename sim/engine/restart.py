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
from typing import NamedTuple

import numpy as np

from sim.engine.checkpoint import Checkpoint
from sim.engine.queued import new_lists, queued_in
from sim.engine.snapshots import Snapshot
from sim.engine.state import EngineState
from sim.flow import Floats, Ints


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
