"""Figures of one run: what is served, what waits, rescales, and whether all results are right."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.rivals.loads import AUCTIONS, LENGTH_S, Pieces, due_s, offered, results_of
from streamplace.util.arrays import Floats

PAUSE_S = 1.0  # without any result, from which on no tuples are processed
BEHIND_S = 2.0  # of the offered rate wait: the job has not caught up
GRID_S = 0.5
Line = tuple[int, int, float]
"""Number, value, and seconds since the begin of the load, of a result."""


@dataclass(frozen=True)
class Sample:
    """What Flink says at a moment.

    Parameters
    ----------
    at_s
        Seconds since the begin of the load.
    slots
        Slots in use.
    parallelism
        Vertex -> number of its instances; empty unless all of them run.
    """

    at_s: float
    slots: int
    parallelism: Mapping[str, int]


def figures(
    query: str, pieces: Pieces, lines: Sequence[Line], samples: Sequence[Sample]
) -> dict[str, Any]:
    """Return the figures of a run as a JSON value.

    Parameters
    ----------
    lines
        Every result that was written until the job had worked off everything.
    """
    due, done, weight = times(query, pieces, lines)
    waits = np.minimum(done, LENGTH_S) - due
    grid = np.arange(0.0, LENGTH_S, GRID_S)
    waiting = backlog(due, done, grid) * weight
    rates = np.gradient(offered(pieces, grid), GRID_S)
    fault = fault_of(query, pieces, lines)
    return {
        "served": float((done <= LENGTH_S).mean()),
        "waiting_tuple_s": float(waits.clip(0.0).sum() * weight),
        "behind_s": float((waiting > BEHIND_S * rates).sum() * GRID_S),
        "paused_s": paused_s(done),
        "slot_s": slot_seconds(samples),
        "rescales": len(rescales(samples)),
        "repeated": len(lines) - len({number for number, _, _ in lines}),
        "exact": not fault,
        "fault": fault,
    }


def backlog(due: Floats, done: Floats, at_s: Floats) -> Floats:
    """Return how many results are due and not there, at each of some times."""
    late = np.searchsorted(np.sort(due), at_s, side="right")
    return np.asarray(late - np.searchsorted(np.sort(done), at_s, side="right"), dtype=float)


def times(query: str, pieces: Pieces, lines: Sequence[Line]) -> tuple[Floats, Floats, float]:
    """Return when each result is due, when it was first written, and the tuples for each result.

    Results that were never written have infinite times.
    """
    due, first = due_s(pieces), dict[int, float]()
    for number, _, at in lines:
        first[number] = min(at, first.get(number, np.inf))
    wanted = list(results_of(query, len(due)))
    done = np.array([first.get(number, np.inf) for number in wanted])
    return due[wanted], done, len(due) / len(wanted)


def paused_s(done: Floats) -> float:
    """Return the seconds within the load in which no result was written for `PAUSE_S` or longer."""
    within = np.sort(done[(done >= 0.0) & (done <= LENGTH_S)])
    gaps = np.diff(np.concatenate([[0.0], within, [LENGTH_S]]))
    return float(gaps[gaps >= PAUSE_S].sum())


def slot_seconds(samples: Sequence[Sample]) -> float:
    """Return the slots in use, summed over the time of the load."""
    kept = [each for each in samples if 0.0 <= each.at_s <= LENGTH_S]
    times = [0.0, *(each.at_s for each in kept[1:]), LENGTH_S]
    return sum(each.slots * (b - a) for each, (a, b) in zip(kept, pairwise(times), strict=True))


def rescales(samples: Sequence[Sample]) -> list[float]:
    """Return when numbers of instances were first seen to have changed, in seconds."""
    running = [each for each in samples if each.parallelism]
    return [b.at_s for a, b in pairwise(running) if dict(a.parallelism) != dict(b.parallelism)]


def fault_of(query: str, pieces: Pieces, lines: Sequence[Line]) -> str:
    """Return what is wrong with the results; empty if nothing is.

    Results may be repeated, since Flink goes back to a checkpoint. Bids of an auction may pass each
    other, so of counts only the set of each auction is known: 1, 2, 3, … without a gap.
    """
    known = results_of(query, len(due_s(pieces)))
    got = {number for number, _, _ in lines}
    if missing := known.keys() - got:
        return f"{len(missing)} results are missing, such as that of {min(missing)}"
    if extra := got - known.keys():
        return f"{len(extra)} results are too many, such as that of {min(extra)}"
    if query == "filter":
        wrong = [number for number, value, _ in lines if known[number] != value]
        return f"{len(wrong)} values are wrong, such as that of {wrong[0]}" if wrong else ""
    due, counted = _by_auction(known.items()), _by_auction((n, v) for n, v, _ in lines)
    bad = [auction for auction in due if due[auction] != counted[auction]]
    return f"the counts of {len(bad)} auctions are wrong, such as {bad[0]}" if bad else ""


def _by_auction(pairs: Iterable[tuple[int, int]]) -> dict[int, set[int]]:
    """Return auction, numbered otherwise than in `BidsJob`, -> the counts of its bids."""
    found: dict[int, set[int]] = {}
    for number, value in pairs:
        found.setdefault(number % AUCTIONS, set()).add(value)
    return found
