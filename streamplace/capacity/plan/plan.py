"""Capacity planning: the devices that sustain a source rate."""

from contextlib import nullcontext
from dataclasses import replace

from streamplace.capacity.plan.equal import plan_equal
from streamplace.capacity.plan.result import Limits, Plan
from streamplace.capacity.plan.unequal import plan_unequal
from streamplace.errors import UsageError
from streamplace.latency.limit import LatencyLimit
from streamplace.placers.budget import check_limits
from streamplace.problem.cluster import MAX_DEVICES, Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.counts import expanded
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Model, Throughput
from streamplace.problem.problem import Problem, check_graph
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.sim import work_clock
from streamplace.util.checks import check_seed
from streamplace.workflows.naming_conflicts import naming_conflicts

MAX_SURVIVED = 1  # lost devices


def plan(
    graph: StreamGraph,
    cluster: Cluster | str | None = None,
    *,
    source_rate: float | None = None,
    constraints: Constraints | None = None,
    model: Model | None = None,
    target_utilisation: float | None = None,
    most: int | None = None,
    seconds: float | None = None,
    evaluations: int | None = None,
    survive: int = 0,
    max_latency: LatencyLimit | str | None = None,
    seed: int = 0,
) -> Plan:
    """Find the devices that sustain a source rate: the fewest equal ones, or the cheapest.

    If the devices and links of the cluster are equal, and no operator is limited to some of them,
    the plan has the capacity of 1, 2, … devices of their kind. Otherwise it has the cheapest set of
    the cluster's devices that keeps up, with a lower bound on the price of any such set.

    Parameters
    ----------
    cluster
        A cluster, or text such as ``5x2500``. Equal devices define the kind of device and the
        network. Of unequal ones, `Device.price` is the price; if no device has a price, each
        counts 1.
    source_rate, constraints
        None: the graph's own. The source rate is in tuples/s.
    model, target_utilisation
        As for `place`.
    most
        Largest number of devices to try. None: try at least as many as the cluster has, and then
        up to 64 until the source rate is sustained or more devices would not help. On unequal
        devices, None: all.
    seconds, evaluations
        Limits of the search, as those of the placer ``auto``: wall time in seconds per number of
        devices, on unequal devices for all sets together; or number of changes tried per number or
        set of devices, at first. Without either, each number of equal devices is searched with
        200,000 changes, plus 400 per operator, so that the result does not depend on the machine,
        and all sets of unequal devices together take 10 seconds of CPU time.
    survive
        1: the devices must keep up after the loss of any one of them, when all operators may be
        placed anew. 0: no losses.
    seed
        Seed of all random choices.
    max_latency
        A limit on latency, such as ``p99=200ms``; see `LatencyLimit`. The devices that keep up are
        searched as by `place`, the fewest or cheapest first, until some keep it.

    Raises
    ------
    UsageError
        Under ``engine``, which defines no sustainable rate, or if an argument is out of range.
    ClusterError
        If only some devices have a price.
    InfeasibleError
        If no placement satisfies the constraints, if with `survive` an operator may run on one
        device only, or if provably no placement keeps the limit on latency.
    StreamplaceError
        If the problem is invalid.
    """
    cluster = Cluster.of(cluster)
    objective = Throughput.of(source_rate, model, target_utilisation)
    _check(objective.model, most, survive, seed)
    check_limits("plan", seconds, evaluations)
    check_graph(graph)
    graph = expanded(graph)
    objective = objective.for_graph(graph)
    rules = graph.constraints if constraints is None else Constraints.of(constraints)
    asked = None if max_latency is None else LatencyLimit.of(max_latency)
    if asked is not None and survive:
        raise UsageError("plan: cannot combine --max-latency with --survive")
    limits = Limits(most, seconds, evaluations, survive, seed, asked)
    if _is_equal(cluster) and not rules.allowed and not (survive and rules.pins):
        with naming_conflicts():
            return plan_equal(graph, cluster, objective, rules, limits)
    is_default = seconds is None and evaluations is None  # then other work does not matter
    with naming_conflicts(), work_clock.cpu_time() if is_default else nullcontext():
        problem = Problem(graph, cluster, objective=objective, constraints=rules)
        return plan_unequal(problem, limits)


def _is_equal(cluster: Cluster) -> bool:
    """Return whether all devices and links are equal, so that only the number of devices counts."""
    kinds = {replace(device, name="one") for device in cluster.devices}
    return len(kinds) == 1 and not cluster.network.overrides and not cluster.network.uplinks


def _check(model: Model, most: int | None, survive: int, seed: int) -> None:
    if model not in CLOSED_FORMS:
        closed_forms = ", ".join(CLOSED_FORMS)
        raise UsageError(f"plan: does not support the model engine; choose from {closed_forms}")
    if most is not None and not 1 <= most <= MAX_DEVICES:
        raise UsageError(f"plan: most must be 1 to {MAX_DEVICES} (got {most})")
    if survive not in range(MAX_SURVIVED + 1):
        raise UsageError(f"plan: survive must be 0 or {MAX_SURVIVED} (got {survive})")
    check_seed(seed)
