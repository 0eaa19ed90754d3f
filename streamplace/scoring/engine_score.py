"""Scores from runs of the engine."""

from dataclasses import dataclass

from streamplace.display.view import Line
from streamplace.scoring.score import ThroughputScore


@dataclass(frozen=True, repr=False)
class EngineScore(ThroughputScore):
    """What a placement achieved in a run of the engine; utilisations are shares of the time.

    Relative throughput is of what was offered while measured.

    Parameters
    ----------
    latency_s
        Mean, p50 and p99 of the seconds from a source to a sink; None where nothing arrived. They
        count from when a source takes a tuple, as in CEPSim: how long it waited before, because
        its device or backpressure held the source up, is not in them.
    path_mean_throughput
        Source tuples/s at the sinks, a mean over the paths to them, as CEPSim has it; None where
        there are more than 16 sources.
    queued, in_flight, dropped
        Tuples that wait at the end, are between devices then, and that sources have dropped.
    queue_growth
        Tuples/s by which what waits between operators grew while measured.
    settled
        Whether throughput and queues, and so latency, had stopped changing; see `RunMetrics`.
    tick_s
        Seconds a tick: as set, or less.
    """

    latency_s: dict[str, float] | None
    path_mean_throughput: float | None
    queued: float
    in_flight: float
    dropped: float
    queue_growth: float
    settled: bool
    tick_s: float

    def _run_lines(self) -> tuple[Line, ...]:
        if self.latency_s is None:
            return (Line("nothing arrived at a sink while measured"),)
        mean, p50, p99 = (self.latency_s[name] for name in ("mean", "p50", "p99"))
        lines = [f"latency {mean:.4g} s on average, half within {p50:.4g}, 99% within {p99:.4g}"]
        if not self.settled:
            growth = f"queues changed by {self.queue_growth:+,.4g} tuples/s"
            lines.append(f"had not settled: {growth}; a longer run may tell other figures")
        return tuple(map(Line, lines))
