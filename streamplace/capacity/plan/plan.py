"""Capacity planning: the devices that sustain a source rate."""

from dataclasses import replace

from streamplace.capacity.plan.equal import plan_equal
from streamplace.capacity.plan.result import Plan
from streamplace.capacity.plan.unequal import plan_unequal
from streamplace.capacity.settings import PlanSettings
from streamplace.errors import UsageError
from streamplace.placers.budget import clock_of
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.counts import expanded
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Throughput
from streamplace.problem.problem import Problem, check_graph
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.util.settings import with_settings
from streamplace.workflows.naming_conflicts import naming_conflicts


@with_settings(PlanSettings)
def plan(
    graph: StreamGraph, cluster: Cluster | str | None = None, *, settings: PlanSettings
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
    cluster, rules, survive = Cluster.of(cluster), settings.constraints, settings.survive
    objective = Throughput.of(settings.source_rate, settings.model, settings.target_utilisation)
    if objective.model not in CLOSED_FORMS:
        closed_forms = ", ".join(CLOSED_FORMS)
        raise UsageError(f"plan: does not support the model engine; choose from {closed_forms}")
    check_graph(graph)
    graph = expanded(graph)
    objective = objective.for_graph(graph)
    rules = graph.constraints if rules is None else Constraints.of(rules)
    if settings.max_latency is not None and survive:
        raise UsageError("plan: cannot combine max_latency with survive")
    with naming_conflicts(), clock_of(settings.seconds, settings.evaluations):
        if _is_equal(cluster) and not rules.allowed and not (survive and rules.pins):
            return plan_equal(graph, cluster, objective, rules, settings)
        problem = Problem(graph, cluster, objective=objective, constraints=rules)
        return plan_unequal(problem, settings)


def _is_equal(cluster: Cluster) -> bool:
    """Return whether all devices and links are equal, so that only the number of devices counts."""
    kinds = {replace(device, name="one") for device in cluster.devices}
    return len(kinds) == 1 and not cluster.network.overrides and not cluster.network.uplinks
