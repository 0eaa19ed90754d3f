"""Plans by sizing: numbers of instances and devices for a rate, at the costs measured last."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from math import ceil

import numpy as np

from streamplace.capacity.size import size
from streamplace.capacity.sizing.result import SizeResult
from streamplace.capacity.sizing.shortage import ShortageError
from streamplace.control.costs import measured_graph
from streamplace.control.observation import Observation, limits_by_slots, slots_of_groups
from streamplace.control.plannable import check_plannable
from streamplace.control.plans import Deployment, Plan
from streamplace.control.settings import ControllerSettings
from streamplace.control.skew import in_words, with_shares
from streamplace.display.text import quoted, several
from streamplace.errors import InfeasibleError, PlacementError, ProblemError, StreamplaceError
from streamplace.placers.budget import Budget
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.counts import expanded, limits_of_count
from streamplace.problem.graph import StreamGraph
from streamplace.problem.logical import instance_names
from streamplace.problem.losses import ClusterChange
from streamplace.problem.objective import Throughput
from streamplace.problem.problem import Problem
from streamplace.scoring.throughput import max_source_rate
from streamplace.util.text import counted

# Of each of up to three sizes, or twice as many where slots are too few; a guess, not tuned.
EVALUATIONS = 500
# Of the time that is left, for each of them, so that the last one has time, too; a guess.
OF_LEFT = 0.5
SHOWN = 3  # operators that a message names, so that it stays a line
UNLIMITED = 1e15  # tuples/s, of a deployment without any work; JSON has no infinity
ROUNDING = 1e-9  # of a number of instances, so that a product does not round up to one more


class SizePlanner:
    """Plans for one job, the cheapest that `size` finds.

    They are for the measured costs, so that instances which compete for the cores of a device, and
    for its links, are counted. Plans leave out devices that are not there. The same observation and
    rate give the same plan, unless the search runs out of time.

    Parameters
    ----------
    graph
        The job: its operators and streams, with limits of their numbers of instances. All numbers
        of instances may change.
    cluster
        All devices that may be there. Prices are per second; devices without one have
        `ControllerSettings.machine_price`.
    evaluations
        Limit of each search; see `size`.

    Raises
    ------
    StreamplaceError
        If there can be no plan, whatever is measured; see `check_plannable`.
    """

    def __init__(
        self,
        graph: StreamGraph,
        cluster: Cluster,
        settings: ControllerSettings,
        *,
        evaluations: int = EVALUATIONS,
    ) -> None:
        check_plannable(graph, cluster)
        self._graph, self._settings, self._evaluations = graph, settings, evaluations
        self._cluster = Cluster(
            [replace(each, price=_price(each.price, settings)) for each in cluster.devices],
            cluster.network,
        )

    def __call__(self, observation: Observation, rate_s: float, seconds: float) -> Plan | str:
        """Return a plan for an offered rate, or the reason why there is none, in words.

        Where the devices are too few for the target utilisation, plans fill them up to the upper
        end of the band, or wholly. So they do where the slots are, if they are known.

        Parameters
        ----------
        observation
            A window with readings of all operators.
        rate_s
            Tuples per second.
        seconds
            Limit of all searches.
        """
        if fault := self._unknown(observation):
            return fault
        most, enough, budget = dict[str, int](), "", Budget(seconds)
        try:
            present, constraints = without_lost(
                self._cluster, self._graph.constraints, observation.devices
            )
            graph, stays = self._measured(observation)
            limited = self._limited(graph, observation, stays)
            sized = self._sized(limited, present, constraints, rate_s, budget)
            if most := limits_by_slots(sized.parallelism, observation):
                slots = sum(slots_of_groups(sized.parallelism, observation).values())
                enough = f"; {counted(slots, 'slot')} would be enough"
                sized = self._sized(at_most(limited, most), present, constraints, rate_s, budget)
            after = _deployment(sized)
            before = Deployment(observation.hosts)
            return Plan(
                after,
                rate_s,
                self._carries(graph, present, after),
                self._carries(graph, self._cluster, before),
                self._price(after),
                self._price(before),
            )
        except StreamplaceError as error:
            if isinstance(error, ShortageError):
                error.reword(partial(in_words, observation=observation, by_slots=most))
            error.update(place=error.fault.without("size").place)
            return f"{error}{enough}"

    def _unknown(self, observation: Observation) -> str:
        """Return which operator or device does not fit the graph or the cluster, in words."""
        names = {*self._graph.names}
        running = Deployment({name: on for name, on in observation.hosts.items() if on})
        devices = {*self._cluster.names}
        faults = {
            "operators of which no instance runs": names - running.parallelism.keys(),
            "operators without measurements": names - observation.readings.keys(),
            "operators that the graph lacks": running.parallelism.keys() - names,
            "devices that the cluster lacks": running.devices - devices,
        }
        wrong = ((what, found) for what, found in faults.items() if found)
        return next((f"{what}: {several(sorted(found), SHOWN)}" for what, found in wrong), "")

    def _measured(self, observation: Observation) -> tuple[StreamGraph, list[int]]:
        """Return the graph with what was measured, and the operators whose numbers must stay.

        These are those of whose instances too little is known: without tuples, without busy times
        (whose costs count as 0 if the graph has none), sources with uneven shares, and what has
        finished, wholly or in part.
        """
        graph = measured_graph(self._graph, self._cluster, observation)
        work = graph.instructions.copy()
        not_timed = [graph.index[name] for name in observation.not_timed]
        work[not_timed] = np.nan_to_num(work[not_timed])
        known, _ = graph.with_numbers(instructions=work)
        # What an instance may have in multiples of its share, within the band, in a plan.
        uneven = self._settings.high / self._settings.target
        shared, stays = with_shares(known, observation, uneven)
        kept = {*observation.idle, *observation.finished}
        return shared, [*stays, *not_timed, *(graph.index[name] for name in sorted(kept))]

    def _limited(
        self, graph: StreamGraph, observation: Observation, stays: Collection[int]
    ) -> StreamGraph:
        """Return the graph with the least numbers of instances that one action may leave."""
        least, most = dict[int, int](), dict(graph.max_parallelism)
        present = {v: len(observation.hosts[name]) for v, name in enumerate(graph.names)}
        for v, count in present.items():
            if v in stays:  # also with more instances than partitions
                least[v] = most[v] = min(count, most.get(v, count))
                continue
            low, high = limits_of_count(graph, v)
            kept = count * (1.0 - self._settings.most_scale_down)
            least[v] = min(high, max(low, ceil(kept - ROUNDING)))
        return graph.with_numbers(min_parallelism=least, max_parallelism=most, parallelism=present)[
            0
        ]

    def _sized(
        self,
        graph: StreamGraph,
        cluster: Cluster,
        constraints: Constraints,
        rate_s: float,
        budget: Budget,
    ) -> SizeResult:
        """Return the size at the lowest utilisation, from the target on, that the devices allow."""
        is_priced = any(each.price for each in cluster.devices)
        fault: StreamplaceError | None = None
        # Where the target is out of reach, a plan with less headroom is better than none.
        for target in sorted({self._settings.target, self._settings.high, 1.0}):
            try:
                return size(
                    graph,
                    cluster,
                    source_rate=rate_s,
                    minimise="money" if is_priced else "machines",
                    constraints=constraints,
                    target_utilisation=target,
                    resize=True,
                    seconds=max(OF_LEFT * budget.seconds_left(), 0.0),
                    evaluations=self._evaluations,
                )
            except (InfeasibleError, PlacementError) as error:
                fault = error
        assert fault is not None, "there is a utilisation"
        raise fault

    def _carries(self, graph: StreamGraph, cluster: Cluster, deployment: Deployment) -> float:
        """Return the tuples per second at the sources that a deployment sustains."""
        instances = expanded(graph, deployment.parallelism)
        device_of = {
            instance: cluster.index[device]
            for name, on in deployment.hosts.items()
            for instance, device in zip(instance_names(name, len(on)), on, strict=True)
        }
        objective = Throughput.of(1.0)
        problem = Problem(instances, cluster, objective=objective, constraints=Constraints())
        devices = np.array([device_of[name] for name in instances.names], np.int32)
        sustained = max_source_rate(problem, devices)
        return UNLIMITED if sustained is None else min(sustained, UNLIMITED)

    def _price(self, deployment: Deployment) -> float:
        """Return the price per second of the devices in use."""
        cluster = self._cluster
        prices = (cluster.devices[cluster.index[name]].price for name in deployment.devices)
        return sum(sorted(price or 0.0 for price in prices))


def _price(price: float | None, settings: ControllerSettings) -> float:
    return settings.machine_price if price is None else price


def _deployment(sized: SizeResult) -> Deployment:
    return Deployment(
        {
            name: tuple(sized.assignment[each] for each in instance_names(name, count))
            for name, count in sized.parallelism.items()
        }
    )


def at_most(graph: StreamGraph, counts: Mapping[str, int]) -> StreamGraph:
    """Return a graph of which operators have no more than some numbers of instances."""
    most = dict(graph.max_parallelism)
    for name, count in counts.items():
        v = graph.index[name]
        most[v] = min(count, most.get(v, count))
    return graph.with_numbers(max_parallelism=most)[0]


def without_lost(
    cluster: Cluster, constraints: Constraints, present: Collection[str]
) -> tuple[Cluster, Constraints]:
    """Return the cluster without the devices that are gone, and the constraints on the others.

    Parameters
    ----------
    present
        Names of the devices that are there; those that the cluster lacks are not used.

    Raises
    ------
    ProblemError
        If no device is left, or an operator may only run on devices that are gone.
    """
    gone = tuple(name for name in cluster.names if name not in present)
    if not gone:
        return cluster, constraints
    if len(gone) == len(cluster.names):
        raise ProblemError("all devices of the cluster are gone")
    for operator, device in constraints.pins.items():
        if device in gone:
            raise ProblemError(f"{quoted(operator)} is pinned to {quoted(device)}, which is gone")
    allowed = {
        operator: [device for device in devices if device not in gone]
        for operator, devices in constraints.allowed.items()
    }
    for operator, devices in allowed.items():
        if not devices:
            only = several(sorted(constraints.allowed[operator]), SHOWN)
            raise ProblemError(f"{quoted(operator)} may only run on {only}, and all are gone")
    return ClusterChange(gone).of(cluster), replace(constraints, allowed=allowed)
