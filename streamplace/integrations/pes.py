"""Numbers of PEs (operators fused on one device) and the cores they need."""

from sim.closed_form.bottleneck import utilisations
from streamplace.errors import ProblemError
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow


def pe_numbers(placement: Placement) -> dict[str, int]:
    """Return device name -> number of its PE: 0, 1, … over the devices used, in cluster order."""
    return {device: n for n, device in enumerate(placement.pes)}


def require_source_rate(problem: Problem, kind: str) -> None:
    """Refuse to reserve CPU for a makespan, which has no source rate.

    Parameters
    ----------
    kind
        The name of the format that reserves it.

    Raises
    ------
    ProblemError
        If the objective is a makespan.
    """
    if isinstance(problem.objective, Makespan):
        raise ProblemError(
            f"{kind} reserves the CPU that operators need at a source rate, which a makespan "
            "does not have; keep the placement under throughput by 'streamplace place GRAPH "
            "--start FILE --max-moves 0 --objective throughput --source-rate R -o FILE'"
        )


def cores_needed(placement: Placement, kind: str) -> dict[str, float]:
    """Return device name -> the number of its cores that its operators need at the source rate.

    With several source rates, the highest one is used. The number may exceed the device's cores.

    Parameters
    ----------
    kind
        The name of the format; see `require_source_rate`.

    Raises
    ------
    ProblemError
        If the objective is a makespan.
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    problem = placement.problem
    require_source_rate(problem, kind)
    shares, _ = utilisations(flow(problem), placement.devices)
    used = shares * problem.target_utilisation  # relative to the whole device, not to its target
    devices = problem.cluster.devices
    return {d.name: float(u) * d.cores for d, u in zip(devices, used, strict=True)}
