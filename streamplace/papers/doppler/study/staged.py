"""Combinations of DOPPLER's stages (Figure 3), the third one on a stand-in for a real system."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from streamplace.learning.policy.base import Constructive
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.registry import policy_section
from streamplace.learning.policy.weights import new_policy
from streamplace.learning.training.in_memory import fit
from streamplace.learning.training.stages import Stage
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.doppler.study.comparisons import Results, Rows
from streamplace.papers.doppler.study.registered import DOPPLER, SIZES, STAGED, Registered
from streamplace.papers.doppler.study.stages import imitation_of, simulation_of
from streamplace.papers.doppler.study.workloads import OWN, Workload
from streamplace.papers.studies.study import Row
from streamplace.papers.studies.table import Cell, Spread, Table, cell
from streamplace.placers.repair import feasible
from streamplace.problem.cluster import Cluster
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats, Ints

MEASURED = 3  # the stage that measures
SAMPLES = 4  # of an update of the third stage
RATE = 1e-3  # of the third stage, which has few updates


@dataclass(frozen=True)
class Contended:
    """Makespans where a device sends one message at a time, and receives one at a time.

    It stands for the real system of the third stage, from which DOPPLER's simulator, whose messages
    never wait, differs.
    """

    def __call__(self, problem: Problem, placements: Ints) -> Floats:
        """Return the seconds of each of K placements, (K,), from device indices, (K, V)."""
        network = replace(problem.cluster.network, kind="nic")
        cluster = Cluster(problem.cluster.devices, network)
        real = Problem(problem.graph, cluster, objective=problem.objective)
        return makespan_evaluator(real).makespans(placements)


def measured(size: Registered) -> Stage:
    """Return the third stage: the second one with measured times, and fewer and larger updates."""
    own = {
        "measurements": size.measurements,
        "epochs": max(1, 2 * size.measurements // SAMPLES),  # measured placements may come again
        "samples": SAMPLES,
        "optimiser": {"rate": RATE, "final_rate": RATE / 100, "schedule": "linear"},
    }
    return simulation_of(DOPPLER, size, size.devices[0]).changed(**own)


def staged_row(system: str, problem: Problem, size: Registered, seed: int) -> Row:
    """Return the row of a combination of stages.

    The placement is the best one of the last stage by its own rewards, of imitation alone the most
    likely one. The third stage first measures the best placement of the second one.
    """
    begun = time.process_time()
    imitation = imitation_of(DOPPLER, size)
    assert imitation is not None, "DOPPLER begins with imitation"
    every = (imitation, simulation_of(DOPPLER, size, size.devices[0]), measured(size))
    stages: list[Stage] = [every[number - 1] for number in STAGED[system]]
    section = policy_section({"kind": "doppler", "sizes": dict(SIZES[DOPPLER])})
    policy, stand_in = Constructive.of(new_policy(section, seed)), Contended()
    fitted = fit(
        policy,
        [problem],
        stages,
        np.random.default_rng([seed, 3]),
        measure=stand_in if MEASURED in STAGED[system] else None,
    )
    (best,) = fitted.best
    if best is None:  # imitation scores no placements
        likeliest = policy.sample(policy.batch([policy.encode(problem)]), 1, Sampler())[0, 0]
        best = feasible(problem, likeliest)
    rows = best.devices[None]
    return {
        "system": system,
        "best_s": float(makespan_evaluator(problem).makespans(rows)[0]),
        "real_s": float(stand_in(problem, rows)[0]),
        "evaluations": fitted.evaluations[0],
        "cpu_s": time.process_time() - begun,
    }


def combinations(results: Results, workloads: Sequence[Workload]) -> Table:
    """Return what combinations of DOPPLER's stages reach where messages wait for each other."""
    rows, own = Rows(), [one for one in workloads if one.source == OWN]
    shown = [one for one in own if any(results.rows(one, system) for system in STAGED)]
    for system in STAGED:
        cells = list[Cell]()
        for workload in shown:
            part = results.rows(workload, system)
            for column in ("real_s", "best_s"):
                cells.append(cell(Spread.of([1e3 * row[column] for row in part])))
        rows.append((system, cells))
    head = ["stages"]
    for workload in shown:
        head += [f"{workload.graph}, messages wait, ms", f"{workload.graph}, simulated, ms"]
    caption = (
        "makespans of the best placement of the last stage, with the lowest and the highest over "
        "the seeds, where messages wait for each other, which is what the third stage measures, "
        "and in DOPPLER's simulator"
    )
    return Table("stages", caption, head, rows, best=dict.fromkeys(head[1:], min))
