"""Time series of a run."""

from dataclasses import dataclass

from sim.flow import Floats


@dataclass(frozen=True, eq=False)
class Series:
    """Time series with T moments: mean rates (tuples/s) and shares of time from one to the next.

    `waiting`, `in_flight`, `backlog` and `gathered` (by windows) are tuples at each moment.
    """

    at_s: Floats  # (T,)
    offered: Floats  # (T, sources)
    dropped: Floats  # (T, sources)
    backlog: Floats  # (T, sources)
    processed: Floats  # (T, V)
    gathered: Floats  # (T, V)
    busy: Floats  # (T, V)
    blocked: Floats  # (T, V)
    sent: Floats  # (T, E)
    waiting: Floats  # (T, E)
    in_flight: Floats  # (T, E)
    device_utilisation: Floats  # (T, D)
    device_stalled: Floats  # (T, D)
    link_utilisation: Floats  # (T, links crossed + 1)
    link_full: Floats  # (T, links crossed + 1)
    link_stalled: Floats  # (T, links crossed + 1)
    mean_latency_s: Floats  # (T, sinks) NaN if nothing arrived
    path_mean_throughput: (
        Floats  # (T, sinks) source tuples/s per path; 0 if sources are not tracked
    )
