"""The state of a run, as passed between kernels."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.engine.records import Records
from sim.flow import Floats, Ints


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
    lists: Records  # see `sim.engine.event_sets`
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
    delays: bool  # whether the latency of any link exceeds a tick
    source_wait: bool  # whether latency includes the time that tuples wait at their source
