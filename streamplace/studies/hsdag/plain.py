"""Placers without training on the workloads of the study, on operators and on groups."""

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress

import numpy as np

from sim import work_clock
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.repair import feasible
from streamplace.placers.running import run_placer
from streamplace.problem.chains import feasible_chain_groups
from streamplace.problem.grouping import Grouping
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import makespan_evaluator
from streamplace.studies.hsdag.groups import kept_together
from streamplace.studies.hsdag.registered import ACCELERATOR_ONLY, CPU_ONLY, Registered
from streamplace.studies.hsdag.workloads import CPU
from streamplace.studies.study import Row
from streamplace.util.arrays import Ints

HEFT, PEFT = "HEFT", "PEFT"
CLIMB, SEARCH, LONG_SEARCH = "climb", "search", "long search"
CLIMB_CHAINS, SEARCH_CHAINS = "climb on chains", "search on chains"
CLIMB_GROUPS, SEARCH_GROUPS = "climb on HSDAG's groups", "search on HSDAG's groups"
RANDOM_GROUPS = "random devices of HSDAG's groups"
PLAIN = (CPU_ONLY, ACCELERATOR_ONLY, HEFT, PEFT)
SEARCHES = (CLIMB, SEARCH, CLIMB_CHAINS, SEARCH_CHAINS, LONG_SEARCH)
NONE_FOUND = (PlacementError, InfeasibleError)
ON_GROUPS = (CLIMB_GROUPS, SEARCH_GROUPS, RANDOM_GROUPS)


def alone(problem: Problem) -> dict[str, float | None]:
    """Return the makespans with all operators on one device, in seconds.

    Returns
    -------
    The shortest one of a CPU and that of another device; None where all operators fit on none.
    """
    found = dict[str, float | None]({CPU_ONLY: None, ACCELERATOR_ONLY: None})
    for d, device in enumerate(problem.cluster.devices):
        devices = np.full(len(problem.graph.names), d, np.int32)
        if problem.feasibility.violation(devices) is None:
            kind = CPU_ONLY if device.kind == CPU else ACCELERATOR_ONLY
            seconds, before = seconds_of(problem, devices), found[kind]
            found[kind] = seconds if before is None else min(before, seconds)
    return found


def seconds_of(problem: Problem, devices: Ints) -> float:
    """Return the makespan of a placement, (V,), in seconds."""
    return float(makespan_evaluator(problem).makespans(devices)[0])


def plain(problem: Problem, size: Registered, seed: int) -> Iterator[Row]:
    """Yield the results of single devices and of list scheduling, and of searches by repeat."""
    for system, seconds in alone(problem).items():
        yield {"system": system, "repeat": 0, "best_s": seconds, "evaluations": 1, "cpu_s": 0.0}
    for system in (HEFT, PEFT):
        yield _row(problem, system, system.lower(), (seed, 0))
    chains = kept_together(problem, feasible_chain_groups(problem))
    for repeat in range(size.seeds):
        own = (seed, repeat)
        for system, placer in _searches(size.evaluations).items():
            yield _row(problem, system, placer, own, _start(problem))
            if chains is not None:
                yield _row(chains, f"{system} on chains", placer, own, _start(chains))
        longer = f"search:evaluations={size.longer * size.evaluations}"
        yield _row(problem, LONG_SEARCH, longer, own)


def on_groups(
    problem: Problem, grouping: Grouping, size: Registered, seed: tuple[int, int]
) -> Iterator[Row]:
    """Yield the results of searches that keep groups together, and of random devices of groups."""
    smaller = kept_together(problem, grouping)
    for system, placer in _searches(size.evaluations).items() if smaller is not None else ():
        assert smaller is not None, "as just checked"
        yield _row(smaller, f"{system} on HSDAG's groups", placer, seed, _start(smaller))
    yield _random(problem, grouping, size.evaluations, seed)


def _searches(evaluations: int) -> Mapping[str, str]:
    return {CLIMB: f"climb:evaluations={evaluations}", SEARCH: f"search:evaluations={evaluations}"}


def _start(problem: Problem) -> Placement | None:
    """Return the best single device, from which HSDAG starts, too; None if all fit on none."""
    with suppress(*NONE_FOUND):
        return run_placer(problem, "single", np.random.default_rng(0), None).placement
    return None


def _row(
    problem: Problem,
    system: str,
    placer: str,
    seed: tuple[int, int],
    start: Placement | None = None,
) -> Row:
    """Return the result of a placer; without a makespan if it finds no feasible placement."""
    seconds, evaluations, spent = None, None, None
    with suppress(*NONE_FOUND), work_clock.cpu_time():
        found = run_placer(problem, placer, np.random.default_rng(seed), start)
        seconds = seconds_of(problem, found.placement.devices)
        evaluations, spent = found.evaluations, found.seconds
    return {
        "system": system,
        "repeat": seed[1],
        "best_s": seconds,
        "evaluations": evaluations,
        "cpu_s": spent,
    }


def _random(problem: Problem, grouping: Grouping, evaluations: int, seed: tuple[int, int]) -> Row:
    """Return the best of uniformly random placements of groups, repaired where they must be."""
    begun, rng = time.process_time(), np.random.default_rng(seed)
    devices = rng.integers(len(problem.cluster.devices), size=(evaluations, grouping.count))
    rows = list[Ints]()
    for draft in devices[:, grouping.group_of].astype(np.int32):
        with suppress(*NONE_FOUND):
            rows.append(feasible(problem, draft).devices)
    seconds = makespan_evaluator(problem).makespans(np.stack(rows)) if rows else None
    return {
        "system": RANDOM_GROUPS,
        "repeat": seed[1],
        "best_s": None if seconds is None else float(seconds.min()),
        "evaluations": evaluations,
        "cpu_s": time.process_time() - begun,
    }
