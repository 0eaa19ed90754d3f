"""Answers of `place --max-latency` about limits around what placements reach in simulation."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.result_lines import add, read
from benchmarks.testbed.latency.problems import Case
from benchmarks.testbed.latency.simulated import simulated, values
from benchmarks.testbed.scaling import Machine, scale
from streamplace import Placement, Problem
from streamplace.latency.limit import LatencyLimit
from streamplace.latency.tuples import busiest, deployment_of
from streamplace.latency.within_limit import within_limit
from streamplace.util.arrays import Ints

ANSWERS = "latency-answers.jsonl"
FACTORS = (0.25, 0.5, 0.8, 1.0, 1.25, 2.0)
"""Limits relative to the simulated value of the placement to start from."""
LIMITED = (("p99", "mean"), ("p99", "mean"), ("mean", "p99"), ("mean", "p99"))
"""The quantity that is limited for the first and for the other start of a graph, in turn."""
SEED = 1_000  # of simulations, whose draws those of the answers and of the testbed do not have
LONG_S, SETTLING_S = 600.0, 60.0


def answer_all(folder: Path, cases: list[Case], machine: Machine) -> list[dict[str, Any]]:
    """Return the answers about each case; those that a file in the folder has are not sought."""
    path = folder / ANSWERS
    known = {one["graph"]: one for one in read(path)}
    with path.open("a") as file:
        for i, case in enumerate(cases):
            if case.name not in known:
                known[case.name] = about(case, machine, LIMITED[i % len(LIMITED)])
                add(file, known[case.name])
    return [known[case.name] for case in cases]


def about(case: Case, machine: Machine, limited: tuple[str, ...]) -> dict[str, Any]:
    """Return the starts of a case, and the answers about limits around their values.

    Parameters
    ----------
    limited
        The quantity that is limited for each start.
    """
    problem = scale(case.problem, machine).problem
    starts = {
        name: {
            "placement": devices.tolist(),
            "utilisation": round(busiest(problem, deployment_of(problem, devices)).utilisation, 4),
            "simulated_s": long_run(problem, devices, case),
        }
        for name, devices in case.starts.items()
    }
    answers = [
        {"start": name, **one}
        for quantity, (name, devices) in zip(limited, case.starts.items(), strict=True)
        for one in _answers(problem, devices, quantity, starts[name]["simulated_s"][quantity], case)
    ]
    return {
        "graph": case.name,
        "operators": len(problem.graph.names),
        "devices": len(problem.cluster.devices),
        "service": case.service,
        "starts": starts,
        "answers": answers,
    }


def long_run(problem: Problem, devices: Ints, case: Case) -> dict[str, float]:
    """Return what a placement reaches in a long simulation, by quantity, in seconds."""
    return values(simulated(problem, devices, case.service, SEED, SETTLING_S, LONG_S))


def _answers(
    problem: Problem, devices: Ints, quantity: str, reached_s: float, case: Case
) -> Iterator[dict[str, Any]]:
    """Yield the answer about each limit on what the placement reaches."""
    start = Placement(problem, devices)
    for factor in FACTORS:
        limit = LatencyLimit(quantity, factor * reached_s, service=case.service)
        found, answer = within_limit(problem, start, limit)
        yield {
            "quantity": quantity,
            "factor": factor,
            "limit_s": limit.seconds,
            "answer": answer.answer,
            "simulated_s": answer.simulated_s,
            "least_s": answer.least_s,
            "placement": found.devices.tolist(),
        }
