"""The state of a run of single tuples: arrivals, and heaps of events and of ready operators.

Of the operators that are ready on a device, the one whose first waiting tuple entered its queue
earliest comes first.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, part
from streamplace.sim.search.rng import Word
from streamplace.sim.tuples.deployment import Deployment

Process = Literal["poisson", "bursts"]
# Factors of the source rate in a burst and between two, whose mean is 1; an example, not measured.
BURST, CALM = 1.5, 0.5
PHASE_S = 1.0  # mean seconds of a burst, and of the time between two; an example, not measured
Words = NDArray[np.uint64]
Longs = NDArray[np.int64]
NOTHING = -1  # no event or operator
# numbers in `State.counts`
SERIAL, EVENTS, FREE, FREE_COUNT, RECORDED, PRESENT, PRESENT_BEFORE, PROCESSED = range(8)


class Phases(NamedTuple):
    """Phases of constant rates; the last one has no end."""

    begin_s: Floats  # (P,) increasing from 0
    factor: Floats  # (P,) of every source's rate


@dataclass(frozen=True)
class Arrivals:
    """A process of arrivals, the same for all sources.

    Parameters
    ----------
    process
        ``poisson``: independent exponential times between the tuples of a source. ``bursts``: a
        Markov-modulated Poisson process of two states, which change for all sources together. Rates
        are 1.5 times and half the mean; times in a state are exponential with mean 1 s.

    Raises
    ------
    ValueError
        On an unknown process.
    """

    process: Process = "poisson"

    def __post_init__(self) -> None:
        if self.process not in get_args(Process):
            names = " or ".join(get_args(Process))
            raise ValueError(f"arrivals: must be {names} (got {self.process!r})")

    @property
    def factors(self) -> tuple[float, ...]:
        """The factors of the source rates in the states, which are equally frequent."""
        return (BURST, CALM) if self.process == "bursts" else (1.0,)

    def phases(self, duration_s: float, rng: np.random.Generator) -> Phases:
        """Return the phases of a run."""
        if self.process == "poisson":
            return Phases(np.zeros(1), np.ones(1))
        begin, factor = [0.0], [self.factors[int(rng.integers(2))]]
        while begin[-1] < duration_s:
            begin.append(begin[-1] + float(rng.exponential(PHASE_S)))
            factor.append(BURST + CALM - factor[-1])
        return Phases(np.array(begin), np.array(factor))


class Draws(NamedTuple):
    """Generators of random numbers; see `streamplace.sim.search.rng`."""

    arrivals: Words  # (S, 1) one per source, so that arrivals do not depend on the placement
    services: Word
    rounding: Word


class Rules(NamedTuple):
    """The constants of a run with S sources."""

    source: Ints  # (S,) operators
    rate: Floats  # (S,) tuples/s
    begin_s: Floats  # (P,) beginnings of phases
    factor: Floats  # (P,) factors of rates
    exponential: bool  # whether services are exponential instead of deterministic
    measured_from_s: float
    duration_s: float
    most_new: int  # tuples that one event may create


class State(NamedTuple):
    """Tuples, queues and events; T is the room for tuples.

    The event of a source is its index; that of tuple i is S + i.
    """

    at_s: Floats  # (T + S,) moments of events, a binary heap with the two columns that follow
    order: Longs  # (T + S,) serial numbers, which break ties
    what: Ints  # (T + S,) events
    birth_s: Floats  # (T,) moment at which the source tuple arrived
    kind: Ints  # (T,) kind of service; see `Deployment`
    step: Ints  # (T,) number of links passed; after the last one the wire, then the operator
    since: Longs  # (T,) serial number of the entry into an operator's queue
    after: Ints  # (T,) next tuple in a queue, or next free one
    head: Ints  # (V,) first waiting tuple of an operator
    tail: Ints  # (V,)
    idle_threads: Ints  # (V,)
    first_on: Ints  # (D + 1,) index of each device's first operator in `ready`
    ready: Ints  # (V,) heaps of operators with a waiting tuple and an idle thread, by device
    ready_count: Ints  # (D,)
    idle_cores: Ints  # (D,)
    link_head: Ints  # (N,) tuple in service on a link
    link_tail: Ints  # (N,)
    phase: Ints  # (S,) phase of each source's next arrival
    device_busy_s: Floats  # (D,) core-seconds within the measured time
    operator_busy_s: Floats  # (V,)
    link_busy_s: Floats  # (N,)
    latency_s: Floats  # (room,) of the tuples that left a sink in the measured time
    counts: Longs  # see above


def first_state(deployed: Deployment, sources: int, room: int) -> State:
    """Return the state before the first arrival, with room for tuples."""
    operators, devices, links = deployed.operators, len(deployed.cores), len(deployed.link)
    on = np.bincount(deployed.device, minlength=devices)
    state = State(
        at_s=np.zeros(room + sources),
        order=np.zeros(room + sources, np.int64),
        what=np.zeros(room + sources, np.int32),
        birth_s=np.zeros(room),
        kind=np.zeros(room, np.int32),
        step=np.zeros(room, np.int32),
        since=np.zeros(room, np.int64),
        after=np.arange(1, room + 1, dtype=np.int32),
        head=np.full(operators, NOTHING, np.int32),
        tail=np.full(operators, NOTHING, np.int32),
        idle_threads=deployed.threads.copy(),
        first_on=np.concatenate([[0], np.cumsum(on)]).astype(np.int32),
        ready=np.zeros(operators, np.int32),
        ready_count=np.zeros(devices, np.int32),
        idle_cores=deployed.cores.copy(),
        link_head=np.full(links, NOTHING, np.int32),
        link_tail=np.full(links, NOTHING, np.int32),
        phase=np.zeros(sources, np.int32),
        device_busy_s=np.zeros(devices),
        operator_busy_s=np.zeros(operators),
        link_busy_s=np.zeros(links),
        latency_s=np.zeros(room),
        counts=np.zeros(8, np.int64),
    )
    state.after[-1] = NOTHING
    state.counts[FREE_COUNT] = room
    return state


def more_room(state: State) -> State:
    """Return the state with twice the room for tuples; the new tuples are free."""
    room = len(state.kind)
    larger = {
        name: np.concatenate([column, np.zeros(room, column.dtype)])
        for name in ("at_s", "order", "what", "birth_s", "kind", "step", "since", "after")
        for column in [getattr(state, name)]
    }
    larger["after"][room:] = np.arange(room + 1, 2 * room + 1)
    larger["after"][-1] = state.counts[FREE]
    state.counts[FREE] = room
    state.counts[FREE_COUNT] += room
    return state._replace(**larger)


def more_records(state: State) -> State:
    """Return the state with twice the room for latencies."""
    more = np.zeros_like(state.latency_s)
    return state._replace(latency_s=np.concatenate([state.latency_s, more]))


@part
def schedule(state: State, at_s: float, what: int) -> None:
    """Add an event."""
    i = state.counts[EVENTS]
    state.counts[EVENTS] += 1
    serial = state.counts[SERIAL]
    state.counts[SERIAL] += 1
    while i > 0:
        above = (i - 1) >> 1
        if state.at_s[above] <= at_s:
            break
        _copy(state, above, i)
        i = above
    state.at_s[i], state.order[i], state.what[i] = at_s, serial, what


@part
def remove_first(state: State) -> int:
    """Remove the earliest event, at index 0, and return it."""
    first: int = state.what[0]
    state.counts[EVENTS] -= 1
    last = state.counts[EVENTS]
    at_s, order, what = state.at_s[last], state.order[last], state.what[last]
    i = 0
    while True:
        below = 2 * i + 1
        if below >= last:
            break
        if below + 1 < last and _is_before(state, below + 1, state.at_s[below], state.order[below]):
            below += 1
        if not _is_before(state, below, at_s, order):
            break
        _copy(state, below, i)
        i = below
    state.at_s[i], state.order[i], state.what[i] = at_s, order, what
    return first


@bare
def _is_before(state: State, i: int, at_s: float, order: int) -> bool:
    earlier: bool = state.at_s[i] < at_s
    return earlier or (state.at_s[i] == at_s and state.order[i] < order)


@bare
def _copy(state: State, i: int, to: int) -> None:
    state.at_s[to], state.order[to], state.what[to] = state.at_s[i], state.order[i], state.what[i]


@part
def push_ready(state: State, d: int, v: int) -> None:
    """Add operator v, which has a waiting tuple and an idle thread, to the heap of device d."""
    first, i = state.first_on[d], state.ready_count[d]
    state.ready_count[d] += 1
    entered = state.since[state.head[v]]
    while i > 0:
        above = (i - 1) >> 1
        other = state.ready[first + above]
        if state.since[state.head[other]] < entered:
            break
        state.ready[first + i] = other
        i = above
    state.ready[first + i] = v


@part
def pop_ready(state: State, d: int) -> int:
    """Remove the first operator of the heap of device d, which is not empty, and return it."""
    first = state.first_on[d]
    found: int = state.ready[first]
    state.ready_count[d] -= 1
    count = state.ready_count[d]
    moved = state.ready[first + count]
    entered = state.since[state.head[moved]]
    i = 0
    while True:
        below = 2 * i + 1
        if below >= count:
            break
        if below + 1 < count and _entered(state, first + below + 1) < _entered(
            state, first + below
        ):
            below += 1
        if entered < _entered(state, first + below):
            break
        state.ready[first + i] = state.ready[first + below]
        i = below
    state.ready[first + i] = moved
    return found


@bare
def _entered(state: State, i: int) -> int:
    entered: int = state.since[state.head[state.ready[i]]]
    return entered
