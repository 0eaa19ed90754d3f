"""Record types of the simulation state: one array of structs for each kind of entity.

Kernels index records (``streams[e].waiting``); other code uses columns (``streams["waiting"]``).
Related values are close in memory, and kernels pass few arrays. Indices are unsigned, because numba
would otherwise check each for being negative, which takes a sixth of a run's time.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import Floats, Ints

Records = NDArray[np.void]

STREAM = np.dtype(
    [
        ("waiting", "f8"),  # tuples in its queue now
        ("in_flight", "f8"),  # tuples between devices now
        ("left", "f8"),  # tuples in its queue at the end of the previous tick
        ("most", "f8"),  # largest number of waiting tuples
        ("selectivity", "f8"),
        ("cost", "f8"),  # seconds of its target's device per tuple, including sending
        ("sent", "f8"),  # tuples sent so far
        ("taken", "f8"),  # tuples taken by its target so far
        ("send_s", "f8"),  # seconds per tuple on the first link
        ("receive_s", "f8"),  # seconds per tuple on the second link, if any
        ("sends", "u4"),  # number of the first link; 0: stays on its device
        ("receives", "u4"),  # number of the second link, or again the first
        ("delay", "i4"),  # ticks on the wire beyond the next tick
        ("travel_s", "f8"),  # seconds from its source to its target's queue without waiting
        ("service_s", "f8"),  # seconds that its target takes per tuple
        ("latest", "u4"),  # the set that last joined a link
        ("latest_key", "i8"),  # when and where `latest` joined a link; see `links.key_at`
        ("up_s", "f8"),  # seconds per tuple on the uplink, if any
        ("down_s", "f8"),  # seconds per tuple on the downlink, if any
        ("ups", "u4"),  # number of the uplink between the first and the second link, or 0
        ("downs", "u4"),  # number of the downlink after the uplink, or 0
    ],
    align=True,
)

OPERATOR = np.dtype(
    [
        ("share", "f8"),  # share of its device
        ("source_cost", "f8"),  # seconds of its device per tuple that it emits as a source
        ("send_cost", "f8"),  # part of the cost that is sending
        ("service_s", "f8"),  # seconds that it takes per tuple that it emits as a source
        ("own_cost", "f8"),  # seconds of its device per tuple that its instructions take
        # tuples processed per tuple taken; below 1 if it takes as many from each of several inputs
        ("part", "f8"),
        ("own_share", "f8"),  # share of its device that its cores are; inf: it can use all cores
        ("own_left", "f8"),  # seconds of its device that its instructions may still take now
        ("processed", "f8"),  # tuples processed so far
        ("busy_s", "f8"),  # seconds of its device used so far
        ("blocked_s", "f8"),  # seconds held up by full queues so far
        ("held", "f8"),  # share of its possible work in this tick that full queues prevented
        ("unmet", "f8"),  # additional seconds that it could use now
        ("grant", "f8"),  # seconds that it may use now
        ("device", "u4"),
        ("source", "i4"),  # number among the sources, or -1
        ("sink", "i4"),  # number among the sinks, or -1
        ("arrival", "u4"),  # for a sink, the column of its first input
        ("window", "i4"),  # number among the windowed operators, or -1
        ("first_in", "u4"),  # index of its first input
        ("inputs", "u4"),  # number of inputs
        ("first_out", "u4"),  # index of its first output
        ("outputs", "u4"),  # number of outputs
    ],
    align=True,
)

DEVICE = np.dtype(
    [
        ("fast", "f8"),  # current factor of its capacity
        ("rest", "f8"),  # seconds left in this pass
        ("hungry", "f8"),  # sum of the shares of operators that could use more seconds
        # seconds used in this tick at full capacity; for a stopped device, > 0 if it has work
        ("used_s", "f8"),
        ("held", "f8"),  # largest `held` of its operators in this tick
        ("busy_s", "f8"),  # seconds busy so far
        ("stalled_s", "f8"),  # seconds idle because of full queues so far
    ],
    align=True,
)

LINK = np.dtype(
    [
        ("busy_s", "f8"),  # seconds busy so far
        ("full_s", "f8"),  # seconds of ticks that ended with tuples left
        ("stalled_s", "f8"),  # seconds idle because of full queues so far
        ("held", "f8"),  # largest `held` of its senders in this tick
        ("needed", "f8"),  # seconds for the sets sent in this tick; inf: not known
        ("clear", "u1"),  # whether it serves all its sets in this tick, in which they were sent
        ("stage", "u1"),  # see `streamplace.sim.engine.links`
    ],
    align=True,
)

SOURCE = np.dtype(
    [
        ("backlog", "f8"),  # tuples offered but not taken yet
        ("offered", "f8"),  # tuples offered so far
        ("dropped", "f8"),  # tuples dropped so far
    ],
    align=True,
)

ARRIVAL = np.dtype(  # arrivals by one input of a sink in this tick
    [
        ("tuples", "f8"),
        ("births", "f8"),  # sum of their births
        ("operator", "u4"),
    ],
    align=True,
)

WINDOW = np.dtype(
    [
        ("ratio", "f8"),
        ("count", "f8"),  # tuples emitted per window, or -1 to use `ratio`
        ("out", "f8"),  # tuples to send now
        ("out_births", "f8"),  # sum of their births
        ("advance", "f8"),  # ticks
        ("closed", "i8"),  # number of windows so far, including the open one
        ("due", "i8"),  # the tick that closes the open window
        ("first_slot", "u4"),
        ("slots", "u4"),  # number of slots
        ("slot", "u4"),  # the slot being filled
    ],
    align=True,
)

SLOT = np.dtype([("tuples", "f8"), ("births", "f8")], align=True)

SET = np.dtype(
    [
        ("size", "f8"),  # tuples
        ("births", "f8"),  # sum of the times at which its tuples entered their sources
        ("stream", "u4"),
        ("since", "i4"),  # tick at which it was sent, joined a link, or may leave the wire
        ("after", "u4"),  # the next set in its list
    ],
    align=True,
)

LIST = np.dtype([("head", "u4"), ("tail", "u4")])


def blank(kind: np.dtype[np.void], count: int) -> Records:
    """Return records filled with zeros."""
    return np.zeros(count, kind)


def copied(records: Records) -> Records:
    """Return a copy of records, made from bytes because copying fields takes eight times longer."""
    return np.ndarray(records.shape, records.dtype, records.view(np.uint8).copy())


class EngineState(NamedTuple):
    """Records and arrays of V operators, E streams, and S tracked sources."""

    out_stream: NDArray[
        np.uint32
    ]  # (E,) stream indices sorted by source; streams are sorted by target
    carried: Floats  # (E, S) factor on source tuples per path after a stream; see `Wiring`
    operators: Records  # (V,)
    streams: Records  # (E,)
    devices: Records  # (D,)
    links: Records  # (links crossed + 1,); the first entry is unused
    sources: Records
    arrivals: Records  # (C,) one column per input of a sink
    windows: Records
    slots: Records  # slots of all windows
    slot_totals: Floats  # (slots, S)
    out_totals: Floats  # (windows, S)
    reached: Floats  # (sinks, S) source tuples per path
    sets: Records
    totals: Floats  # (sets, S) source tuples per path
    first_backlog: int  # the list of the first source's backlog
    lists: Records  # see `streamplace.sim.engine.event_sets`
    scratch: Floats  # (S,)
    offered: NDArray  # type: ignore[type-arg]  # (sources, ticks or 1) tuples
    speed: NDArray  # type: ignore[type-arg]  # (changes + 1, D) factor of a device's capacity
    speed_from: Ints  # (changes + 1,) ticks
    latency: Floats  # (ticks, C) mean seconds of the arrived tuples
    arrived: Floats  # (ticks, C) tuples


class Rules(NamedTuple):
    """The constants of a run."""

    tick_s: float
    queue: float  # tuples, inf: unbounded
    pushes: bool  # whether backpressure acts over the network
    dynamic: bool  # whether the scheduler is dynamic
    source_queue: float  # tuples, inf: unbounded
    nic: bool  # whether devices have network interfaces instead of pair links
    uplinks: bool  # whether groups of devices share links
    walks: bool  # whether clear links pass on their sets in one walk; see `links.py`
    delays: bool  # whether the latency of any link exceeds a tick
    source_wait: bool  # whether latency includes the time that tuples wait at their source
