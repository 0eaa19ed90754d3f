"""Problems of makespans and placements of them, drawn by number."""

from dataclasses import replace

import numpy as np

from benchmarks.reference.schedule_placements import placement_of
from benchmarks.reference.schedule_problems import ScheduleForm, schedule_problem
from streamplace import Constraints, Placement, Problem
from streamplace.errors import InfeasibleError

BLOCK = 1_000_000  # numbers of one seed
LARGE = 12  # of so many problems, one has 15 to 60 operators
NOISY = 7  # of so many, `noisy` gives one noise
WORK, BYTES = (1e6, 9e6), (1e4, 4e6)  # ranges of instructions and bytes


def drawn(number: int, seed: int) -> tuple[ScheduleForm, Placement]:
    """Return a problem in its JSON forms, and a placement of it.

    All options of graphs, clusters and objectives occur, but no noise. Times are exact in binary.
    """
    form = schedule_problem(seed * BLOCK + number, large=number % LARGE == 0)
    # means over devices are exact under `b-level` only, one of the orders that `any` compares
    if form["settings"]["order"] == "b-level" and number % 2:
        form["settings"]["order"] = "any"
    return form, placement_of(**form)


def noisy(placement: Placement, number: int) -> Placement:
    """Return the placement, for some numbers as one of a problem with noise."""
    if number % NOISY:
        return placement
    problem = placement.problem
    objective = replace(problem.makespan_objective, noise=0.25, repeats=3, seed=number)
    return Placement(problem.with_objective(objective), placement.devices)


def constrained(problem: Problem, rng: np.random.Generator) -> Problem:
    """Return the problem with random constraints, or as it is if they exclude each other."""

    def some(names: tuple[str, ...], count: int) -> list[str]:
        return [str(name) for name in rng.permutation(names)[:count]]

    names = problem.graph.names
    rules = Constraints(
        pins={some(names, 1)[0]: some(problem.cluster.names, 1)[0]} if rng.random() < 0.3 else {},
        colocate=[some(names, 3)] if rng.random() < 0.3 else [],
        exlocate=[some(names, 2)] if rng.random() < 0.3 else [],
    )
    try:
        return problem.with_constraints(rules)
    except InfeasibleError:
        return problem


def without_ties(number: int, seed: int) -> Placement:
    """Return a placement in whose pass no two operators can have the same priority.

    Operators start by their ranks, which differ, and messages neither wait for each other nor take
    CPU time. Where operators tie, the one of the smallest index starts first, so that their order
    counts.
    """
    form, _ = drawn(number, seed)
    rng = np.random.default_rng((seed, number))
    form["graph"]["firing"] = "all"
    form["settings"] |= {"order": "b-level", "batch": 1}
    for operator in form["graph"]["operators"]:
        if operator["instructions"] is not None:
            operator["instructions"] = rng.uniform(*WORK)
        times = operator.get("seconds_on", {})
        for kind in times:
            times[kind] = None if times[kind] is None else rng.uniform(0.5, 2.0)
    for stream in form["graph"]["streams"]:
        stream["payload_bytes"] = rng.uniform(*BYTES)
    network = form["cluster"]["network"]
    network |= {"kind": "free", "overhead_s": 0, "overhead_s_per_byte": 0}
    network["overrides"] = []
    for device in form["cluster"]["devices"]:
        device.pop("overhead_s_per_byte", None)
    return placement_of(**form)
