"""The tuples on the streams of a run whose throughput no longer changes.

Queues before a bottleneck can take hours to fill. The run is therefore simulated in bursts, between
which the tuples in every place of a stream go on changing as they did in the burst, by a leap of
many bursts: projective integration (Gear and Kevrekidis 2003). The next event, a queue that is full
or empty, ends a leap. Leaps become longer while successive bursts agree, and shorter where they do
not. Whatever the rules of the engine are, the state to which this leads is their own.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.engine.contents import (
    LAYERS,
    LINKS,
    NEGLIGIBLE,
    PLACES,
    QUEUE,
    WIRE,
    Contents,
    contents_of,
    with_contents,
)
from streamplace.sim.engine.loop import advance
from streamplace.sim.engine.records import EngineState, Rules
from streamplace.sim.engine.simulation import Simulation
from streamplace.sim.flow import Floats, Flow

# After a leap, tuples have to find their way again, which must not count. The numbers are guesses.
BURST_S, IGNORED_S = 13.0, 7.0  # seconds of a burst that count, and before them
BURSTS = 30  # as long together as ten untold durations, which is what a run that goes on may take
# Change of a place in tuples/s that counts as none, as a share of the expected rate; as `STANDS`.
STILL = 0.002
# The same, as a share of the largest change: a full queue changes a little from tick to tick.
BESIDE = 0.1
# Largest difference of two bursts that agree, as a share of the largest change; a guess.
AGREE = 0.25
# Factors of the length of leaps: much shorter, since a leap too far has to be undone; guesses.
LONGER, SHORTER = 3.0, 0.125
SHORTEST = 0.25  # leap, as a share of a burst: with less, the run would hardly get on; a guess
PASSED = (*range(LINKS, PLACES), WIRE, QUEUE)  # the places of a stream, first to last


class _Burst(NamedTuple):
    """The end of a burst, and what changed in it."""

    state: EngineState
    contents: Contents
    change: Floats  # (PLACES, E) tuples/s
    taken: Floats  # (E,) tuples/s


def contents_when_steady(
    simulation: Simulation, placement: NDArray[np.integer], tick_s: float | None
) -> Contents | None:
    """Return the tuples on the streams of a run when its throughput no longer changes.

    They are those after the last burst where bursts still differ. None if there are no streams, or
    if windows or profiles repeat too slowly for a burst.

    Parameters
    ----------
    placement
        (V,) device indices.
    tick_s
        Seconds per tick; None: those of `Simulation.tick_for`.
    """
    devices = np.ascontiguousarray(placement, dtype=np.int32)
    first_s = simulation.settings.first_duration_s
    longest_s = first_s + BURSTS * (IGNORED_S + BURST_S)
    state, rules, timing, _ = simulation.ready(devices, tick_s, longest_s)
    ignored, counted = (
        timing.period * max(1, round(seconds / timing.tick_s / timing.period))
        for seconds in (IGNORED_S, BURST_S)
    )
    done = round(first_s / timing.tick_s)
    bursts = (timing.ticks - done) // (ignored + counted)
    if not len(state.streams) or bursts < 1:
        return None
    state = advance(state, rules, 0, done)
    expected = np.maximum(simulation.expected, np.finfo(float).tiny)
    burst_s = (ignored + counted) * timing.tick_s
    leap_s, last = burst_s, None
    for _ in range(bursts):
        burst = _burst(state, rules, done, ignored, counted)
        state, done = burst.state, done + ignored + counted
        change = _that_matters(burst, rules, expected)
        # No queue changes any more: this is the steady state.
        if not change.any():
            break
        share = change / expected
        if last is not None:
            largest = max(np.abs(share).max(), np.abs(last).max())
            agree = np.abs(share - last).max() <= AGREE * largest
            leap_s = max(SHORTEST * burst_s, leap_s * (LONGER if agree else SHORTER))
        last = share
        event_s = _until_full_or_empty(burst, rules, change)
        later = event_s[event_s > burst_s]  # a burst shows earlier events
        seconds = min(leap_s, float(later.min()) if len(later) else burst_s)
        state = with_contents(state, _changed(burst, rules, change * seconds), done)
    return burst.contents._replace(births=_births(burst, simulation.inner))


def _burst(state: EngineState, rules: Rules, begin: int, ignored: int, counted: int) -> _Burst:
    """Simulate a burst, of which the last `counted` ticks count."""
    state = advance(state, rules, begin, begin + ignored)
    before, taken = contents_of(state).tuples, state.streams["taken"].copy()
    end = begin + ignored + counted
    state = advance(state, rules, begin + ignored, end)
    after, seconds = contents_of(state), counted * rules.tick_s
    taken = (state.streams["taken"] - taken) / seconds
    return _Burst(state, after, (after.tuples - before) / seconds, taken)


def _that_matters(burst: _Burst, rules: Rules, expected: Floats) -> Floats:
    """Return the changes of a burst, (PLACES, E), without small ones and growth without limit.

    Beside a large change, a small one may be that of a full queue from tick to tick.
    """
    has_limit = _has_limit(burst, rules) & np.isfinite(burst.state.streams["most"])
    change = np.where(has_limit, burst.change, np.minimum(burst.change, 0.0))
    share = np.abs(change) / expected
    return np.where(share > max(STILL, BESIDE * float(share.max())), change, 0.0)


def _has_limit(burst: _Burst, rules: Rules) -> NDArray[np.bool_]:
    """Return the places, (PLACES, E), whose tuples together are limited on each stream."""
    counts = np.ones((PLACES, len(burst.state.streams)), np.bool_)
    if not rules.pushes:
        counts[WIRE:] = burst.state.streams["sends"] == 0
    return counts


def _until_full_or_empty(burst: _Burst, rules: Rules, change: Floats) -> Floats:
    """Return the seconds after which each stream is full or empty at this change, (E,), or inf."""
    tuples, counts = burst.contents.tuples, _has_limit(burst, rules)
    growth, falls = (change * counts).sum(axis=0), -change.sum(axis=0)
    room = np.maximum(burst.state.streams["most"] - (tuples * counts).sum(axis=0), 0.0)
    never = np.full(len(growth), np.inf)
    full_s = np.divide(room, growth, out=never.copy(), where=growth > 0.0)
    empty_s = np.divide(tuples.sum(axis=0), falls, out=never, where=falls > 0.0)
    return np.asarray(np.minimum(full_s, empty_s))


def _changed(burst: _Burst, rules: Rules, difference: Floats) -> Contents:
    """Return the contents after a difference in tuples, (PLACES, E), within limits of queues."""
    contents, counts = burst.contents, _has_limit(burst, rules)
    tuples = np.maximum(contents.tuples + difference, 0.0)
    together = (tuples * counts).sum(axis=0)
    fits = np.minimum(1.0, burst.state.streams["most"] / np.maximum(together, NEGLIGIBLE))
    tuples = np.where(counts, tuples * fits, tuples)
    factor = tuples / np.maximum(contents.tuples, NEGLIGIBLE)
    return contents._replace(tuples=tuples, totals=contents.totals * factor[:, :, None])


def _births(burst: _Burst, flow: Flow) -> Floats:
    """Return when the tuples in every layer entered their sources, (PLACES, E, LAYERS), at most 0.

    By Little's law, a tuple has spent (tuples in a place) / (tuples/s) in each place before.
    """
    tuples = burst.contents.tuples
    moves = np.broadcast_to(burst.taken > NEGLIGIBLE, tuples.shape)
    seconds = np.divide(tuples, burst.taken, out=np.zeros_like(tuples), where=moves)
    waited = 1.0 - (np.arange(LAYERS) + 0.5) / LAYERS  # share of the time in its own place
    births = np.zeros((*seconds.shape, LAYERS))
    age_s, weight = np.zeros(flow.operators), np.zeros(flow.operators)
    for e in range(len(flow.source)):  # by target, and sources come before targets
        v, w = flow.source[e], flow.target[e]
        age = age_s[v] / weight[v] if weight[v] > 0.0 else 0.0
        for place in PASSED:
            births[place, e] = -(age + seconds[place, e] * waited)
            age += seconds[place, e]
        age_s[w] += burst.taken[e] * age
        weight[w] += burst.taken[e]
    return births
