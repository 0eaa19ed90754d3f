"""Scores from simulations of single tuples."""

from dataclasses import dataclass, fields

from sim.engine import Settings
from sim.tuples import TupleRun
from streamplace.display.text import number
from streamplace.display.view import Line
from streamplace.problem.placement import Placement
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.throughput_evaluator import score_at
from streamplace.scoring.tuples import deployed, links_of, run_tuples

ARRIVALS = {"poisson": "Poisson arrivals", "bursts": "Poisson arrivals in bursts"}
"""The processes of arrivals in words."""


@dataclass(frozen=True, repr=False)
class TupleScore(ThroughputScore):
    """The score of a placement in a simulation of single tuples; utilisations are shares of time.

    No device, link or operator is overloaded and queues are unbounded, so that the throughput is
    the source rate.

    Parameters
    ----------
    latency_s
        Mean, p50 and p99 of the seconds from the arrival of a tuple at its source to the moment at
        which a sink has processed a tuple that descends from it; None if none did.
    latency_se_s
        Standard errors of `latency_s`, which the length of the run leaves; None with few tuples.
    arrivals, service
        The arrivals, and the distribution of service times; see `sim.engine.Settings`.
    tuples
        Number of tuples that operators processed.
    growth
        Growth of the tuples that wait, are in service or between devices, while measured.
    measured_s, enough_s
        The measured seconds, and those from which the standard errors are reliable: 100 times the
        longest relaxation time of the queues; see `sim.tuples.relaxation`.
    settled
        Whether enough was measured, and `growth` is at most 1% of the tuples that reached sinks.
    """

    latency_s: dict[str, float] | None
    latency_se_s: dict[str, float] | None
    arrivals: str
    service: str
    tuples: int
    growth: int
    measured_s: float
    enough_s: float
    settled: bool

    def _run_lines(self) -> tuple[Line, ...]:
        if self.latency_s is None:
            return (Line("no tuple arrived at a sink during the measurement"),)
        mean, p50, p99 = (self._latency(name) for name in ("mean", "p50", "p99"))
        process = f"{ARRIVALS[self.arrivals]}, {self.service} services"
        lines = [
            f"latency: mean {mean}, median {p50}, 99% of tuples within {p99}",
            f"{self.tuples:,} single tuples with {process}",
        ]
        enough = number(float(f"{self.enough_s:.2g}"))
        if self.measured_s < self.enough_s:
            lines.append(
                f"had not settled: the queues change so slowly that {self.measured_s:.3g} s are "
                f"too short for these errors; measure {enough} s or more (--duration)"
            )
        elif not self.settled:
            change = f"the tuples present changed by {self.growth:+,}"
            lines.append(f"had not settled: {change}; a longer run may give other results")
        return tuple(map(Line, lines))

    def _latency(self, name: str) -> str:
        """Return a latency with its standard error, if that is known."""
        if self.latency_s is None or self.latency_se_s is None:
            return "unknown" if self.latency_s is None else f"{self.latency_s[name]:.3g} s"
        return f"{self.latency_s[name]:.3g} ± {self.latency_se_s[name]:.1g} s"


def tuple_score(placement: Placement, settings: Settings) -> TupleScore:
    """Return the score of a placement by single tuples, at its problem's highest source rate.

    Raises
    ------
    ProblemError, UsageError
        See `run_tuples`.
    """
    found = run_tuples(placement, settings)
    return score_of_tuples(placement, settings, found)


def score_of_tuples(placement: Placement, settings: Settings, found: TupleRun) -> TupleScore:
    """Return the score of a placement from a run of single tuples."""
    problem = placement.problem
    alone = problem.with_source_rate(problem.source_rate)
    placed = deployed(problem, placement.devices)
    limited = placed.threads < placed.cores[placed.device]
    closed = score_at(
        alone,
        placement.devices,
        alone.source_rate,
        found.device_utilisation,
        links_of(problem, placed, found.link_utilisation),
        found.operator_utilisation * limited,
    )
    return TupleScore(
        **{field.name: getattr(closed, field.name) for field in fields(closed)},
        latency_s=found.latency_s,
        latency_se_s=found.latency_se_s,
        arrivals=str(settings.arrivals),
        service=str(settings.service),
        tuples=found.tuples,
        growth=found.growth,
        measured_s=found.measured_s,
        enough_s=found.enough_s,
        settled=found.settled,
    )
