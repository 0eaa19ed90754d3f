"""The state of a run of single tuples, and the constants of a run."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.flow import Floats, Ints
from sim.search.rng import Word
from sim.tuples.deployment import Deployment

Words = NDArray[np.uint64]
Longs = NDArray[np.int64]
NOTHING = -1
# numbers in `State.counts`
SERIAL, EVENTS, FREE, FREE_COUNT, RECORDED, PRESENT, PRESENT_BEFORE, PROCESSED = range(8)


class Draws(NamedTuple):
    """Generators of random numbers; see `sim.search.rng`."""

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
