"""Figures of one run: what is served, what waits, rescales, and whether all results are right."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.rivals.loads import LENGTH_S, Pieces, due_s
from benchmarks.rivals.queries import QUERIES
from streamplace.util.arrays import Floats

PAUSE_S = 1.0  # without any result, from which on no tuples are processed
BEHIND_S = 2.0  # more waits than fell due in so long: the job has not caught up
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
    behind = backlog(due + BEHIND_S, done, np.arange(0.0, LENGTH_S, GRID_S)) > 0
    fault = fault_of(query, pieces, lines)
    return {
        "served": float((done <= LENGTH_S).mean()),
        "waiting_tuple_s": float(waits.clip(0.0).sum() * weight),
        "behind_s": float(behind.sum() * GRID_S),
        "paused_s": paused_s(due, done),
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
    wanted = QUERIES[query].expected(len(due))
    done = np.array([first.get(number, np.inf) for number in wanted.number.tolist()])
    return due[wanted.cause], done, len(due) / len(done)


def paused_s(due: Floats, done: Floats) -> float:
    """Return the seconds in which something waited and no result came for `PAUSE_S` or longer."""
    came = np.sort(np.minimum(done, LENGTH_S))
    before = np.concatenate([[0.0], came[:-1]])
    gaps = came - np.maximum(before, np.sort(due))
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

    Results may be repeated, since Flink goes back to a checkpoint. Of the results of a group, only
    the set is known.
    """
    wanted = QUERIES[query].expected(len(due_s(pieces)))
    group_of = dict(zip(wanted.number.tolist(), wanted.group.tolist(), strict=True))
    got = {number for number, _, _ in lines}
    if missing := group_of.keys() - got:
        return f"{len(missing)} results are missing, such as that of {min(missing)}"
    if extra := got - group_of.keys():
        return f"{len(extra)} results are too many, such as that of {min(extra)}"
    due = _by_group(zip(wanted.group.tolist(), wanted.value.tolist(), strict=True))
    found = _by_group((group_of[number], value) for number, value, _ in lines)
    wrong = [group for group in due if due[group] != found[group]]
    return f"the values of {len(wrong)} groups are wrong, such as {wrong[0]}" if wrong else ""


def _by_group(pairs: Iterable[tuple[int, int]]) -> dict[int, set[int]]:
    """Return group -> the values of its results."""
    found: dict[int, set[int]] = {}
    for group, value in pairs:
        found.setdefault(group, set()).add(value)
    return found
