"""A rule that knows the trace, and pays for restarts like the others."""

from itertools import pairwise

import numpy as np

from benchmarks.control.simulated.job import SimulatedJob
from benchmarks.control.simulated.planner import counts_for, packed
from benchmarks.control.simulated.run import JobState, advance, moved
from benchmarks.control.simulated.trace import STEP_S, Trace
from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment
from streamplace.util.arrays import Floats

LEVELS = 10
UNSERVED = 100.0  # times the price of a delayed tuple, so that serving comes before machines


class Clairvoyant:
    """The cheapest sequence of deployments, one per window, by dynamic programming.

    The choice is among deployments for some rates between the lowest and the highest of the trace,
    with all devices and without those that are lost or slow at some time.
    A window costs the tuples beyond the capacity, whether or not any wait, the machines in use, and
    the tuples that a restart delays. What waits from window to window is left out, so the sequence
    is good but not always the best one.

    Parameters
    ----------
    first
        The deployment at the start.
    window_s, downtime_s
        Length of a window, and expected downtime of a restart, in seconds.
    machine_price, tuple_price
        Price of a second of a machine, and of a delayed tuple.
    """

    def __init__(
        self,
        job: SimulatedJob,
        trace: Trace,
        first: Deployment,
        window_s: float,
        downtime_s: float,
        machine_price: float = 1.0,
        tuple_price: float = 0.001,
    ) -> None:
        self._job, self._trace = job, trace
        self._every, self._downtime_s = round(window_s / STEP_S), downtime_s
        self._prices = machine_price, tuple_price
        self._choices = self._all_choices(first)
        self._plan = self._cheapest()

    def step(self, observation: Observation) -> Deployment | None:
        """Return the deployment of the next window, if it is another one."""
        window = round(observation.at_s / STEP_S) // self._every
        if window >= len(self._plan) or not observation.devices:
            return None
        wanted = self._choices[self._plan[window]]
        lost = frozenset(self._job.cores) - observation.devices
        wanted = moved(self._job, wanted, lost)
        return None if wanted.key == Deployment(observation.hosts).key else wanted

    def ended(self, begun_s: float, ended_s: float, downtime_s: float) -> None:
        """Do nothing: all is known before."""

    def _all_choices(self, first: Deployment) -> list[Deployment]:
        """Return deployments for some rates, on all devices and without those disturbed at a time.

        The first of them is `first`.
        """
        whole = len(self._trace.rates) // self._every * self._every
        peaks = self._trace.rates[:whole].reshape(-1, self._every).max(axis=1)
        levels = np.linspace(peaks.min(), 1.1 * peaks.max(), LEVELS).tolist()
        moments = (0, *self._trace.changes(0, self._trace.steps))
        disturbed = sorted({frozenset(self._trace.speeds(step)) for step in moments}, key=sorted)
        found = {first.key: first}
        for devices in [frozenset(self._job.cores) - names for names in disturbed]:
            for rate_s in levels if devices else []:
                counts = counts_for(self._job, rate_s)
                deployment = packed(self._job, counts, rate_s, devices)
                found.setdefault(deployment.key, deployment)
        return list(found.values())

    def _cheapest(self) -> list[int]:
        """Return the number of the choice of each window, the first of which is the first."""
        costs = self._costs()
        moves = self._restart_costs()
        count = len(self._choices)
        best = np.full(count, np.inf)
        best[0] = costs[0, 0]
        came: list[list[int]] = []
        for window in range(1, len(costs)):
            through = best[:, None] + (1.0 - np.eye(count)) * moves[window]
            came.append(np.argmin(through, axis=0).tolist())
            best = through.min(axis=0) + costs[window]
        plan = [int(np.argmin(best))]
        for before in reversed(came):
            plan.append(before[plan[-1]])
        return plan[::-1]

    def _costs(self) -> Floats:
        """Return the cost of each choice in each window, (windows, choices)."""
        machine_price, tuple_price = self._prices
        edges = [*range(0, self._trace.steps, self._every), self._trace.steps]
        costs = np.zeros((len(edges) - 1, len(self._choices)))
        for c, choice in enumerate(self._choices):
            machines = machine_price * len(choice.devices) * STEP_S
            for w, (begin, end) in enumerate(pairwise(edges)):
                segments = advance(self._job, self._trace, JobState(begin, choice), end)[1]
                short = sum(
                    float(np.maximum(each.offered - each.capacity, 0.0).sum()) for each in segments
                )
                costs[w, c] = machines * (end - begin) + UNSERVED * tuple_price * short
        return costs

    def _restart_costs(self) -> list[float]:
        tuple_price = self._prices[1]
        rates = [self._trace.rates[begin] for begin in range(0, self._trace.steps, self._every)]
        return [float(rate) * self._downtime_s * tuple_price for rate in rates]
