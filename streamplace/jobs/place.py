"""Placement of several jobs on one cluster."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from streamplace.display.text import number, rounded_up
from streamplace.errors import InfeasibleError, PlacementError, UsageError, within
from streamplace.jobs.jobs import Jobs
from streamplace.jobs.joint import Allocation, JointProblem, shared_multicast, union_graph
from streamplace.jobs.result import JobsResult, outcomes
from streamplace.jobs.search import (
    FEW_PLACEMENTS,
    Improvement,
    are_feasible,
    best_of_all,
    is_better,
    is_small,
)
from streamplace.placers.auto import Auto
from streamplace.placers.base import BasePlacer, Placer
from streamplace.placers.registry import placer_of
from streamplace.placers.running import name_of, run_placer
from streamplace.problem.cluster import Cluster
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.sim import work_clock
from streamplace.util.arrays import Bools, Floats, Ints
from streamplace.util.checks import check_seed, check_type
from streamplace.workflows.naming_conflicts import naming_conflicts
from streamplace.workflows.place import place_problem
from streamplace.workflows.result import Result

EVALUATIONS, PER_UNIT = 20_000, 200  # joint placements compared: a constant, and per unit
HOLDS = 1e-9  # share of a minimum that counts as rounding error


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
    feasibility = joint.union.feasibility
    return devices if are_feasible(joint.union, devices[None, feasibility.first_of])[0] else None


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


def place_jobs(
    jobs: Jobs,
    cluster: Cluster | str | None = None,
    *,
    placer: str | Placer = "auto",
    seed: int = 0,
    target_utilisation: float | None = None,
) -> JobsResult:
    """Place several jobs on one cluster, those of higher priority first.

    Minimum throughputs are reserved first, by priority. Then relative throughputs are compared by
    priority; within a priority, the smallest relative throughput divided by weight counts first,
    then the next, and so on. A single job is placed as by `place`.

    Parameters
    ----------
    cluster
        A cluster, or text such as ``5x2500``; None stands for the cluster of the paper.
    placer
        Places each job alone, which shows what jobs lose, and all jobs at once and by priority. A
        local search then improves on the best joint placement. ``auto`` tries all joint placements
        instead if they are few. With ``exact``, the result is proven optimal if everything is
        carried or all joint placements can be enumerated.
    seed
        Seed of all random choices.
    target_utilisation
        The share of every device and link that may be used, above 0 and at most 1; default 1.

    Raises
    ------
    InfeasibleError
        If provably no joint placement satisfies constraints, memory and resources, or keeps all
        minimum throughputs.
    PlacementError
        If none was found that keeps them.
    StreamplaceError
        If a problem, the placer's name or the placer's result is invalid.
    """
    check_seed(seed)
    check_type("place_jobs: jobs", jobs, Jobs, UsageError)
    with naming_conflicts():
        joint = JointProblem(jobs, Cluster.of(cluster), target_utilisation)
        alone = [_alone(joint, j, placer, seed) for j in range(len(jobs))]
        joint.allocation(joint.union.feasibility.unit_of * 0)  # compiles the kernels
        begun = work_clock.now()
        if len(jobs) == 1:
            devices, status = alone[0].placement.devices, alone[0].status
        else:
            devices = _joint(joint, placer, seed, [result.placement for result in alone])
            status = _status(joint, placer, devices)
    allocation = joint.allocation(devices)
    bounds = [_bound(result) for result in alone]
    is_optimal = status == "OPTIMAL" or _enumerates(joint, placer)
    check_minimums(joint, allocation, bounds, is_optimal=is_optimal)
    found = outcomes(joint, devices, allocation, [result.score.throughput for result in alone])
    seconds = sum(result.seconds for result in alone) + work_clock.now() - begun
    return JobsResult(joint, devices, allocation, found, name_of(placer), seconds, status)


def _alone(joint: JointProblem, j: int, placer: str | Placer, seed: int) -> Result:
    """Return the result of placing one job alone; an error of its problem names the job."""
    with within(f"jobs[{j}] ({joint.jobs[j].name!r})"):
        return cast("Result", place_problem(joint.problems[j], placer, seed))  # it has rates


def _bound(result: Result) -> float:
    """Return an upper bound on the throughput of a result's problem, in tuples/s."""
    return result.score.source_rate if result.bound is None else result.bound


def runs_of(jobs: Jobs) -> int:
    """Return the largest number of times that `place_jobs` runs the placer."""
    if len(jobs) == 1:
        return 1
    return len(jobs) + 2 + len(jobs.by_priority)  # alone, together, for minimums, by priority


def _joint(
    joint: JointProblem, placer: str | Placer, seed: int, alone: Sequence[Placement]
) -> Ints:
    """Return the best joint placement found, (V,)."""
    if _enumerates(joint, placer):
        best = best_of_all(joint)
        if best is None:
            raise InfeasibleError(
                "jobs: constraints, memory and resources allow no placement of all jobs together "
                "(all combinations tried)"
            )
        return best
    best, worth = None, None
    for start in starts(joint, placer, seed, alone):
        of_start = joint.worth(start[None, :])[0]
        if worth is None or is_better(of_start, worth):
            best, worth = start, of_start
        if joint.carries_all(worth):
            return best if best is not None else start
    assert best is not None  # the first start raises if there is none
    evaluations = EVALUATIONS + PER_UNIT * joint.union.feasibility.unit_count
    return Improvement(evaluations)(joint, best, np.random.default_rng(seed))


def _enumerates(joint: JointProblem, placer: str | Placer) -> bool:
    """Return whether all joint placements are tried: by ``exact``, and if they are few by auto."""
    chosen = placer_of(placer)
    if isinstance(chosen, Auto):
        return is_small(joint, FEW_PLACEMENTS)
    return _proves(chosen) and is_small(joint)


def _proves(placer: Placer) -> bool:
    return isinstance(placer, BasePlacer) and placer.proves


def _status(joint: JointProblem, placer: str | Placer, devices: Ints) -> str | None:
    """Return ``OPTIMAL`` or ``FEASIBLE`` for the placer ``exact``, None for others."""
    if not _proves(placer_of(placer)):
        return None
    proven = is_small(joint) or joint.carries_all(joint.worth(devices[None, :])[0])
    return "OPTIMAL" if proven else "FEASIBLE"


def check_minimums(
    joint: JointProblem, allocation: Allocation, alone: Sequence[float], *, is_optimal: bool
) -> None:
    """Refuse a minimum throughput that does not hold.

    Parameters
    ----------
    alone
        Upper bound on the throughput of each job if it is alone on the cluster, in tuples/s.
    is_optimal
        Whether no joint placement has larger parts of the minimums.

    Raises
    ------
    InfeasibleError
        If provably no joint placement keeps all minimums.
    PlacementError
        If none was found.
    """
    for j, job in enumerate(joint.jobs):
        least, most = job.min_throughput, float(allocation.reserved[j]) * job.offered
        if most >= least * (1.0 - HOLDS):
            continue
        where = f"jobs[{j}] ({job.name!r}): min_throughput {least:g}"
        advice = "lower it, or add devices"
        if alone[j] < least * (1.0 - HOLDS):
            reason = f"even alone, the job carries at most {rounded_up(alone[j])} tuples/s"
            raise InfeasibleError(f"{where} cannot hold: {reason}; {advice}")
        beside = f"{number(most)} tuples/s beside the minimums of the other jobs"
        if is_optimal or _is_disproved(joint):
            best = "the best one" if is_optimal else "the best one found"
            reason = f"provably no placement keeps all minimums, and {best} has {beside}"
            raise InfeasibleError(f"{where} cannot hold: {reason}; {advice}")
        raise PlacementError(
            f"{where}: no placement was found that keeps it, although one may exist: the best one "
            f"has {beside}; {advice}, or try the placer exact"
        )


def _is_disproved(joint: JointProblem) -> bool:
    """Return whether the minimums of all jobs overload any placement."""
    links_count = shared_multicast(joint.jobs) is not None  # else messages are not shared
    together = compiled(union_at(joint, joint.least))
    return together.least_utilisation(links_count=links_count) > 1.0 + HOLDS
