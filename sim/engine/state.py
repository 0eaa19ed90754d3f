"""The state of a run, as its kernels pass it on."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.engine.records import Records
from sim.flow import Floats, Ints


class EngineState(NamedTuple):
    """Records and arrays. V operators, E streams, S sources told apart."""

    out_stream: NDArray[np.uint32]  # (E,) by source; streams themselves are by target
    carried: Floats  # (E, S) what a source tuple, a path, counts for after a stream
    operators: Records  # (V,)
    streams: Records  # (E,)
    devices: Records  # (D,)
    links: Records  # (links crossed + 1,), the first is none
    sources: Records
    arrivals: Records  # (C,) a column for each input of a sink
    windows: Records
    slots: Records  # of all windows
    slot_totals: Floats  # (slots, S)
    out_totals: Floats  # (windows, S)
    reached: Floats  # (sinks, S) source tuples, a path
    sets: Records
    totals: Floats  # (sets, S) source tuples, a path
    lists: Records  # see `sim.engine.event_sets`
    scratch: Floats  # (S,)
    offered: NDArray  # type: ignore[type-arg]  # (sources, ticks or 1) tuples
    speed: NDArray  # type: ignore[type-arg]  # (changes + 1, D) factor of a device's capacity
    speed_from: Ints  # (changes + 1,) ticks
    latency: Floats  # (ticks, C) seconds, mean of what arrived
    arrived: Floats  # (ticks, C) tuples


class Rules(NamedTuple):
    """What holds for a whole run."""

    tick_s: float
    queue: float  # tuples, inf: unbounded
    pushes: bool  # backpressure over the network
    dynamic: bool
    source_queue: float  # tuples, inf: unbounded
    nic: bool
    delays: bool  # whether any wire is longer than a tick
