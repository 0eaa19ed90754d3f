"""One run of single tuples: its size, its latencies and utilisations."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from streamplace.sim.flow import Floats
from streamplace.sim.tuples.deployment import Deployment
from streamplace.sim.tuples.errors import relaxation_s, standard_errors, summary
from streamplace.sim.tuples.events import DONE, NO_RECORDS, NO_ROOM, run_events
from streamplace.sim.tuples.state import (
    PRESENT,
    PRESENT_BEFORE,
    PROCESSED,
    RECORDED,
    Arrivals,
    Draws,
    Rules,
    State,
    first_state,
    more_records,
    more_room,
)

LEAST_ROOM = 1024  # initial room for tuples, which grows when needed
AT_ONCE = 5_000_000  # events per kernel call, so that Ctrl-C is answered
QUANTILES = {"p50": 0.5, "p99": 0.99}  # those that users limit most: the median and the tail
# Of 200 runs of M/M/1 that have just settled, ± 2 errors cover the mean in 92 to 96%; after 12 of
# them, in 79% (tests/sim/tuples/test_errors.py).
RELAXATIONS = 100.0  # measured times in which errors are known well enough
# Growth of the tuples present, as a share of those measured, of a settled run; as in the engine.
STEADY = 0.01


@dataclass(frozen=True, eq=False)
class TupleRun:
    """What one run of single tuples measured, with V operators, D devices and L links.

    Parameters
    ----------
    latencies_s
        (N,) seconds from the arrival of a source tuple at its source to the moment at which a sink
        has processed a tuple that descends from it, in the order of these moments; one for each
        tuple that a sink processed in the measured time.
    device_utilisation, operator_utilisation, link_utilisation
        (D,), (V,) and (N links crossed,) shares of the measured time; those of operators are of
        their threads.
    tuples
        Number of services of the whole run.
    growth
        Growth during the measured time of the tuples that wait, are in service or between devices.
    measured_s
        The measured time in seconds.
    relaxation_s
        The longest relaxation time of the deployment's queues in seconds; see `relaxation_s`.
    """

    latencies_s: Floats
    device_utilisation: Floats
    operator_utilisation: Floats
    link_utilisation: Floats
    tuples: int
    growth: int
    measured_s: float
    relaxation_s: float

    @cached_property
    def latency_s(self) -> dict[str, float] | None:
        """Mean, p50 and p99 of the latencies, in seconds; None if nothing arrived."""
        return None if not len(self.latencies_s) else summary(self.latencies_s, QUANTILES)

    @cached_property
    def latency_se_s(self) -> dict[str, float] | None:
        """Standard errors of `latency_s`, in seconds; None with few tuples; see `errors`."""
        return standard_errors(self.latencies_s, QUANTILES)

    @property
    def enough_s(self) -> float:
        """The measured seconds from which standard errors are reliable: 100 relaxation times."""
        return RELAXATIONS * self.relaxation_s

    @property
    def settled(self) -> bool:
        """Whether the run was long enough, and the tuples present grew by at most 1% of all."""
        is_steady = abs(self.growth) <= STEADY * len(self.latencies_s)
        return bool(is_steady and self.measured_s >= self.enough_s)


def expected_tuples(deployed: Deployment, duration_s: float) -> float:
    """Return the expected number of services of a run."""
    return float(deployed.rate.sum()) * duration_s


def run(
    deployed: Deployment,
    arrivals: Arrivals,
    *,
    exponential: bool,
    duration_s: float,
    measured_from_s: float,
    seed: int = 0,
) -> TupleRun:
    """Simulate single tuples; the caller checks that utilisations are below 1.

    Parameters
    ----------
    exponential
        Whether services have exponential times instead of constant ones.
    seed
        Seed of all draws. Runs with the same seed and arrivals have the same arrivals, whatever
        their placement.
    """
    streams = deployed.streams
    sources = np.flatnonzero(deployed.rate[streams:] > 0)
    rng = np.random.default_rng(seed)
    phases = arrivals.phases(duration_s, rng)
    words = rng.integers(1, 2**63, len(sources) + 2, dtype=np.uint64)
    draws = Draws(words[2:, None].copy(), words[:1].copy(), words[1:2].copy())
    rules = Rules(
        source=sources.astype(np.int32),
        rate=deployed.rate[streams:][sources],
        begin_s=phases.begin_s,
        factor=phases.factor,
        exponential=exponential,
        measured_from_s=measured_from_s,
        duration_s=duration_s,
        most_new=_most_new(deployed),
    )
    state = first_state(deployed, len(sources), max(LEAST_ROOM, 2 * rules.most_new))
    state = _finished(deployed, rules, state, draws)
    counts, seconds = state.counts, duration_s - measured_from_s
    return TupleRun(
        latencies_s=state.latency_s[: counts[RECORDED]].copy(),
        device_utilisation=state.device_busy_s / seconds / deployed.cores,
        operator_utilisation=state.operator_busy_s / seconds / deployed.threads,
        link_utilisation=state.link_busy_s / seconds,
        tuples=int(counts[PROCESSED]),
        growth=int(counts[PRESENT] - counts[PRESENT_BEFORE]),
        measured_s=seconds,
        relaxation_s=relaxation_s(deployed, arrivals, exponential=exponential),
    )


def _finished(deployed: Deployment, rules: Rules, state: State, draws: Draws) -> State:
    """Return the state at the end of the run."""
    while True:
        stopped = run_events(deployed, rules, state, draws, AT_ONCE)
        if stopped == DONE:
            return state
        if stopped == NO_ROOM:
            state = more_room(state)
        elif stopped == NO_RECORDS:
            state = more_records(state)


def _most_new(deployed: Deployment) -> int:
    """Return the largest number of tuples that one event creates."""
    created = np.ceil(deployed.selectivity)
    source = np.repeat(np.arange(deployed.operators), np.diff(deployed.first_out))
    of_operators = np.bincount(source, created[deployed.out_stream], minlength=1)
    return max(1, int(of_operators.max()))
