"""The records that a simulation works on: one array of structs for each kind of thing.

Kernels index them (``streams[e].waiting``), everything else takes columns (``streams["waiting"]``).
What belongs together lies together in memory, and kernels pass few arrays around. Indices are
unsigned: numba then asks no index whether it counts from the end, a sixth of a run's time.
"""

import numpy as np
from numpy.typing import NDArray

Records = NDArray[np.void]

STREAM = np.dtype(
    [
        ("waiting", "f8"),  # tuples in its queue, now
        ("in_flight", "f8"),  # tuples between devices, now
        ("left", "f8"),  # tuples in its queue when the tick before ended
        ("most", "f8"),  # tuples that may wait
        ("selectivity", "f8"),
        ("cost", "f8"),  # seconds of its target's device that a tuple takes, sending included
        ("sent", "f8"),  # tuples
        ("taken", "f8"),  # tuples
        ("send_s", "f8"),  # seconds that a tuple takes the first link
        ("receive_s", "f8"),  # and the second, where there is one
        ("sends", "u4"),  # the first link, from 1 on; 0: stays on its device
        ("receives", "u4"),  # the second, or the first again
        ("delay", "i4"),  # ticks on the wire beyond the next
        ("latest", "u4"),  # the set that joined a link last
        ("latest_key", "i8"),  # 2 * tick + 1 if it was the first link, + 2 if the second
    ],
    align=True,
)

OPERATOR = np.dtype(
    [
        ("share", "f8"),  # of its device
        ("source_cost", "f8"),  # seconds of its device that a tuple takes which it emits itself
        ("send_cost", "f8"),  # of these, what sending takes
        ("processed", "f8"),  # tuples
        ("busy_s", "f8"),  # seconds of its device that it has used
        ("blocked_s", "f8"),  # seconds held up by full queues
        ("held", "f8"),  # share of what it could have done that full queues prevented, this tick
        ("unmet", "f8"),  # seconds more that it could use, now
        ("grant", "f8"),  # seconds that it may use, now
        ("device", "u4"),
        ("source", "i4"),  # number among the sources, or -1
        ("sink", "i4"),  # number among the sinks, or -1
        ("arrival", "u4"),  # of a sink: the number of its first input's column
        ("window", "i4"),  # number among the windowed operators, or -1
        ("first_in", "u4"),  # where its inputs begin
        ("inputs", "u4"),
        ("first_out", "u4"),
        ("outputs", "u4"),
    ],
    align=True,
)

DEVICE = np.dtype(
    [
        ("fast", "f8"),  # factor of its capacity, now
        ("rest", "f8"),  # seconds that are left, now
        ("hungry", "f8"),  # shares of the operators that could use some, now
        (
            "used_s",
            "f8",
        ),  # at full capacity, this tick; of one that has stopped: > 0 if it has work
        ("held", "f8"),  # largest of its operators, this tick
        ("busy_s", "f8"),
        ("stalled_s", "f8"),  # idle because of full queues
    ],
    align=True,
)

LINK = np.dtype(
    [
        ("busy_s", "f8"),
        ("full_s", "f8"),  # with tuples left at the end of a tick
        ("stalled_s", "f8"),  # idle because of full queues
        ("held", "f8"),  # largest of those who send over it, this tick
        ("receiving", "b1"),  # whether it is what a device receives
    ],
    align=True,
)

SOURCE = np.dtype(
    [
        ("backlog", "f8"),  # tuples offered and not taken, now
        ("offered", "f8"),  # tuples
        ("dropped", "f8"),  # tuples
    ],
    align=True,
)

ARRIVAL = np.dtype(  # by one input of a sink, this tick
    [
        ("tuples", "f8"),
        ("births", "f8"),  # sum over them
        ("operator", "u4"),
    ],
    align=True,
)

WINDOW = np.dtype(
    [
        ("ratio", "f8"),
        ("count", "f8"),  # or -1
        ("out", "f8"),  # tuples to send, now
        ("out_births", "f8"),  # summed
        ("advance", "f8"),  # ticks
        ("closed", "i8"),  # windows, the one now open included
        ("due", "i8"),  # the tick that closes the window now open
        ("first_slot", "u4"),
        ("slots", "u4"),
        ("slot", "u4"),  # the one being filled
    ],
    align=True,
)

SLOT = np.dtype([("tuples", "f8"), ("births", "f8")], align=True)

SET = np.dtype(
    [
        ("size", "f8"),  # tuples
        ("births", "f8"),  # when its tuples entered their sources, summed
        ("stream", "u4"),
        ("since", "i4"),  # the tick when it was sent, joined a link, or may leave the wire
        ("after", "u4"),  # the next in its list
    ],
    align=True,
)

LIST = np.dtype([("head", "u4"), ("tail", "u4")])


def blank(kind: np.dtype[np.void], count: int) -> Records:
    """Return records that are all zero."""
    return np.zeros(count, kind)


def copied(records: Records) -> Records:
    """Return a copy of its bytes: numpy takes eight times as long over its fields."""
    return np.ndarray(records.shape, records.dtype, bytearray(records.tobytes()))
