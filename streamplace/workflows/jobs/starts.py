"""Joint placements from which local search starts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.base import Placer
from streamplace.placers.jobs import feasible_rows
from streamplace.placers.running import run_placer
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.union import union_graph
from streamplace.scoring.joint import JointProblem
from streamplace.util.arrays import Bools, Floats, Ints


def starts(
    joint: JointProblem, placer: str | Placer, seed: int, alone: Sequence[Placement]
) -> Iterator[Ints]:
    """Yield feasible joint placements, (V,): of all jobs at once, alone, and by priority.

    The first is that of a placer on the union of all jobs; if it carries everything that is
    offered, no job loses anything.

    Parameters
    ----------
    alone
        The placement of each job alone on the cluster.

    Raises
    ------
    InfeasibleError, PlacementError
        If there is no joint placement, or the placer finds none.
    """
    yield _placed(joint.union, placer, seed)
    together = np.concatenate([placement.devices for placement in alone])
    if joint.union.feasibility.violation(together) is None:
        yield together
    if joint.least.any():
        yield _placed(union_at(joint, joint.least), placer, seed)
    by_priority = _by_priority(joint, placer, seed, alone)
    if by_priority is not None:
        yield by_priority


def _by_priority(
    joint: JointProblem, placer: str | Placer, seed: int, alone: Sequence[Placement]
) -> Ints | None:
    """Return a placement that is made one priority after another; None if the rest does not fit.

    The jobs that are placed stay where they are, at the rates that they get. Those of the next
    priority are offered in proportion to their weights, so that the best placement for all of them
    alike has the largest smallest share.
    """
    devices = np.zeros(len(joint.union.graph.names), dtype=np.int32)
    present, shares = np.zeros(len(joint.jobs), dtype=np.bool_), np.zeros(len(joint.jobs))
    for members in joint.jobs.by_priority:
        if not present.any() and len(members) == 1:
            devices[joint.columns[members[0]]] = alone[members[0]].devices
        else:
            shares[members] = joint.weights[members] / joint.weights[members].max()
            try:
                devices = _placed(union_at(joint, shares, devices, present), placer, seed)
            except (InfeasibleError, PlacementError):
                return None
        present[members] = True
        shares = joint.allocation(devices, present).shares
    rules = joint.union.feasibility
    return devices if feasible_rows(joint.union, devices[None, rules.first_of])[0] else None


def union_at(
    joint: JointProblem,
    shares: Floats,
    devices: Ints | None = None,
    fixed: Bools | None = None,
) -> Problem:
    """Return the union at shares of the source rates, (J,).

    Parameters
    ----------
    devices, fixed
        (V,) the devices of a joint placement, and (J,) the jobs that stay on them.

    Raises
    ------
    InfeasibleError
        If the others do not fit.
    """
    rates = [share * job.offered for share, job in zip(shares, joint.jobs, strict=True)]
    graph, names = union_graph(joint.jobs, rates), joint.cluster.names
    pins = dict(graph.constraints.pins)
    if devices is not None and fixed is not None:
        for column in (c for c, is_fixed in zip(joint.columns, fixed, strict=True) if is_fixed):
            pins |= {graph.names[v]: names[devices[v]] for v in range(column.start, column.stop)}
    return Problem(
        graph,
        joint.cluster,
        constraints=replace(graph.constraints, pins=pins),
        target_utilisation=joint.union.target_utilisation,
    )


def _placed(problem: Problem, placer: str | Placer, seed: int) -> Ints:
    """Return the placement that a placer finds, (V,)."""
    return run_placer(problem, placer, np.random.default_rng(seed), None).placement.devices
