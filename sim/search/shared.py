"""The streams of units that share messages, and which units change them."""

from typing import Any

import numpy as np

from sim.flow import Flow, Ints
from sim.messages import Copies


def copies_of_units(flow: Flow, unit_of: Ints, reference: float) -> tuple[Ints, Copies]:
    """Return the unit of each producer, (P,), and its streams with tuples to other units.

    Without multicast, there are none.
    """
    streams = streams_of_units(flow, unit_of)
    producers, count = np.unique(flow.source[streams], return_counts=True)
    copies = Copies(
        np.cumsum([0, *count]).astype(np.int32),
        np.arange(len(streams), dtype=np.int32),
        unit_of[flow.target[streams]],
        flow.stream_tuples[streams] / reference,
        flow.stream_bits[streams] / reference,
    )
    return unit_of[producers], copies


def streams_of_units(flow: Flow, unit_of: Ints) -> Ints:
    """Return the streams of `copies_of_units`, by producer."""
    streams = flow.out_stream
    leaving: Ints = streams[unit_of[flow.source[streams]] != unit_of[flow.target[streams]]]
    return leaving


def shared_streams(home: Ints, copies: Copies, units: int) -> dict[str, Any]:
    """Return the fields of an instance about streams that share messages."""
    producer = np.repeat(np.arange(len(home)), np.diff(copies.first))
    ends = np.concatenate([copies.to, home]).astype(np.int64)
    pairs = np.unique(ends * len(home) + np.concatenate([producer, np.arange(len(home))]))
    unit, use = np.divmod(pairs, max(1, len(home)))
    first_use = np.searchsorted(unit, np.arange(units + 1)).astype(np.int32)
    return {"home": home, "copies": copies, "first_use": first_use, "use": use.astype(np.int32)}
