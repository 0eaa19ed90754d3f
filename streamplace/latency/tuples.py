"""Single tuples of a placement: runs, estimates by queueing theory, and the check before both."""

from dataclasses import dataclass, fields
from math import floor, log10

import numpy as np
from numpy.typing import NDArray

from streamplace.display.text import number
from streamplace.display.view import Line
from streamplace.errors import ProblemError, UsageError
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.loads import Bottleneck
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.throughput_evaluator import bottleneck_at, score_at
from streamplace.sim.engine import Settings
from streamplace.sim.queueing import Estimate, estimated
from streamplace.sim.tuples import (
    Arrivals,
    Deployment,
    TupleRun,
    UnsupportedError,
    deploy,
    expected_tuples,
    run,
)
from streamplace.util.arrays import Floats

ARRIVALS = {"poisson": "Poisson arrivals", "bursts": "Poisson arrivals in bursts"}
"""The processes of arrivals in words."""

MOST_TUPLES = 10_000_000  # of a run, summed over operators
MOST_AT_ONCE = 100_000  # that an operator sends for one tuple, which must fit into memory


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
        The arrivals, and the distribution of service times; see `streamplace.sim.engine.Settings`.
    tuples
        Number of tuples that operators processed.
    growth
        Growth of the tuples that wait, are in service or between devices, while measured.
    measured_s, enough_s
        The measured seconds, and those from which the standard errors are reliable: 100 times the
        longest relaxation time of the queues; see `streamplace.sim.tuples.errors`.
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
    placed = deployment_of(problem, placement.devices)
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


def deployment_of(problem: Problem, devices: NDArray[np.integer]) -> Deployment:
    """Return the deployment of one placement, (V,), at the highest source rate.

    Raises
    ------
    ProblemError
        If operators join their inputs, or streams share messages.
    """
    try:
        latency_s = problem.cluster.link_column("latency_s")
        return deploy(compiled(problem).flow, latency_s, devices)
    except UnsupportedError as error:
        raise ProblemError(str(error)) from None


def busiest(problem: Problem, placed: Deployment) -> Bottleneck:
    """Return the device, link or operator with the largest utilisation.

    The utilisation of an operator's threads includes what messages cost, unlike in other models.
    """
    own = np.where(placed.threads < placed.cores[placed.device], placed.thread_utilisation, 0.0)
    on_link = links_of(problem, placed, placed.link_utilisation)
    return bottleneck_at(problem, placed.device_utilisation, on_link, own)


def links_of(problem: Problem, placed: Deployment, of_crossed: Floats) -> Floats:
    """Return a column of all links, (L,), from one of those that the placement crosses."""
    column = np.zeros(len(compiled(problem).flow.gap_s))
    column[placed.link] = of_crossed
    return column


def estimate(
    problem: Problem, devices: NDArray[np.integer], arrivals: Arrivals, *, exponential: bool
) -> Estimate:
    """Return the estimated latency of one placement, (V,); infinite if it is overloaded."""
    placed = deployment_of(problem, devices)
    source = compiled(problem).flow.source
    return estimated(placed, source, arrivals, exponential=exponential)


def run_tuples(placement: Placement, settings: Settings) -> TupleRun:
    """Simulate the single tuples of a placement at its problem's highest source rate.

    Parameters
    ----------
    settings
        Their `arrivals` and `service` are set.

    Raises
    ------
    ProblemError
        If a device, link or operator is overloaded, so that latencies have no limit, or used to the
        target utilisation or above, if an operator sends too many tuples for one, or if the problem
        is not supported; see `deployment_of`.
    UsageError
        If the run would have too many tuples.
    """
    problem = placement.problem
    placed = deployment_of(problem, placement.devices)
    _check_load(problem, placed)
    _check_selectivity(problem)
    _check_size(placed, settings.first_duration_s)
    if settings.arrivals is None:
        raise UsageError("arrivals: must be set for single tuples")
    return run(
        placed,
        Arrivals(settings.arrivals),
        exponential=settings.service == "exponential",
        duration_s=settings.first_duration_s,
        measured_from_s=settings.measured_from_s,
        seed=settings.seed,
    )


def _check_load(problem: Problem, placed: Deployment) -> None:
    """Refuse a placement whose queues would grow without limit."""
    top = busiest(problem, placed)
    full = problem.target_utilisation
    if top.utilisation >= full:
        most = problem.source_rate * full / top.utilisation
        target, higher = "", ""
        if full < 1.0:
            target = f", and the target utilisation is {full * 100:.4g}%"
            higher = ", or a higher target utilisation"
        raise ProblemError(
            f"{top.kind} {top.name!r} is used {top.utilisation:.1%}{target}, so with random "
            "arrivals its queue grows without limit; choose a source rate below "
            f"{_rounded_down(most)} tuples/s{higher}"
        )


def _check_selectivity(problem: Problem) -> None:
    """Refuse operators that send too many tuples at once."""
    flow = compiled(problem).flow
    sent = np.bincount(flow.source, np.ceil(flow.selectivity), minlength=flow.operators)
    v = int(sent.argmax())
    if sent[v] > MOST_AT_ONCE:
        raise ProblemError(
            f"operators[{v}]: {problem.graph.names[v]!r} sends {sent[v]:,.0f} tuples for one, and "
            f"at most {MOST_AT_ONCE:,} can be simulated one by one; lower the selectivity"
        )


def _check_size(placed: Deployment, duration_s: float) -> None:
    tuples = expected_tuples(placed, duration_s)
    if tuples > MOST_TUPLES:
        most = duration_s * MOST_TUPLES / tuples
        raise UsageError(
            f"duration: {duration_s:g} s would have {tuples:,.0f} tuples, and at most "
            f"{MOST_TUPLES:,} can be simulated one by one; choose at most {_rounded_down(most)} s, "
            "or a lower source rate"
        )


def _rounded_down(value: float) -> str:
    """Return a number with three digits that is not above the value."""
    unit = 10.0 ** (floor(log10(value)) - 2)
    return f"{floor(value / unit) * unit:g}"
