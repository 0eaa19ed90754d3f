"""Proofs by CP-SAT and by `exact` on random problems, against references.

    python -m benchmarks.false_proofs FILE [--problems N]

Half of the problems are about throughput and half about makespans. Where there are up to 20,000
placements, all are tried; elsewhere, the reference is the best placement that other placers find.
CP-SAT is asked alone, without the bounds, the branch and bound and the enumeration that answer most
questions before it; then `exact` runs as users run it. A proof is false if the reference is better
than its bound, or than a placement that it calls optimal. Every problem adds a line to FILE, and a
later run with the same FILE goes on where the last one ended.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.reference.grouped_problems import grouped_problem
from benchmarks.reference.random_problems import optimum, random_problem
from benchmarks.reference.resource_problems import resource_problem
from benchmarks.reference.schedule_placements import placement_of
from benchmarks.reference.schedule_problems import schedule_problem
from benchmarks.result_lines import add, read
from benchmarks.speed import report
from streamplace import Cluster, Device, Makespan, Network, Operator, Problem, Stream, StreamGraph
from streamplace.errors import PlacementError
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.makespan.placers.proof import PassProof
from streamplace.placers.base import Found
from streamplace.placers.budget import Budget
from streamplace.placers.exact import cp_sat
from streamplace.placers.exact.decision import DecisionProblem, Incumbent
from streamplace.placers.exact.exact import Exact
from streamplace.placers.registry import placer_of
from streamplace.placers.search.exhaustive import feasible_rows
from streamplace.problem.cluster import LinkOverride
from streamplace.problem.placement import Placement
from streamplace.scoring.score import PROVEN, ROUNDING
from streamplace.scoring.throughput import throughput

MOST = 20_000  # placements that are all tried
PROOF_SECONDS = 0.5  # of CP-SAT, and then of `exact`
EFFORT = 1.0  # of CP-SAT under throughput, in its deterministic seconds
NEAR = 1e-5  # share by which CP-SAT is asked for less than the reference
SMALL = random_problem, grouped_problem, resource_problem
FOR_STREAMS = "auto:evaluations=20000", "search:evaluations=5000", "greedy", "round-robin"
FOR_PASSES = "auto:evaluations=2000", "heft:contention", "peft:links", "cpop", "round-robin"
DEVICES = 3, 4, 6, 12, 20


class Reference(NamedTuple):
    """A problem, what is known of its best placement, and a placement to start from.

    Attributes
    ----------
    best
        Its throughput, or its makespan.
    tried
        Whether all placements were tried.
    """

    problem: Problem
    best: float
    tried: bool
    start: Placement


def main() -> None:
    """Check the problems that FILE lacks, and print what all of them amount to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="a line of JSON for each problem")
    parser.add_argument("--problems", type=int, default=10_000, help="how many; default: 10000")
    arguments = parser.parse_args()
    rows = read(arguments.file)
    with arguments.file.open("a") as file:
        for seed in range(len(rows), arguments.problems):
            rows.append({"seed": seed, **checked(seed)})
            add(file, rows[-1])
    counts = Counter(key for row in rows for key, value in row.items() if value is True)
    for figure in ("all placements tried", "bounded by CP-SAT", "proven by exact"):
        report(figure, f"{counts[figure]} of {len(rows)}", "", True)
    wrong = [row["seed"] for row in rows if row["false"]]
    report("false proofs", f"{len(wrong)} of {len(rows)}", "0", not wrong)
    if wrong:
        print(f"problems with false proofs: {wrong}")


def checked(seed: int) -> dict[str, bool]:
    """Return what the proofs of one problem amount to."""
    number = seed // 2
    if seed % 2:
        reference = of_streams(number)
        bounded, is_false = cp_sat_on_streams(reference, number)
    else:
        reference = of_pass(number)
        bounded, is_false = cp_sat_on_pass(reference, number)
    proof = Exact(seconds=PROOF_SECONDS).run(reference.problem, np.random.default_rng(number))
    return {
        "all placements tried": reference.tried,
        "bounded by CP-SAT": bounded,
        "proven by exact": bool(proof.optimal),
        "false": is_false or proof_is_false(reference, proof),
    }


def of_streams(number: int) -> Reference:
    """Return a problem of throughput: three of four are small."""
    kind = number % 4
    if kind == len(SMALL):
        return by_placers(loaded_job(number), FOR_STREAMS)
    problem = SMALL[kind](number, "bottleneck", MOST)
    start = placer_of("round-robin")(problem, np.random.default_rng(number))
    return Reference(problem, optimum(problem), True, start)


def of_pass(number: int) -> Reference:
    """Return a problem of makespans: every second is small if it has few placements."""
    if number % 2:
        return by_placers(wide_pass(number), FOR_PASSES)
    problem = placement_of(**schedule_problem(number, large=number % 16 == 0)).problem
    problem = problem.with_objective(replace(problem.makespan_objective, noise=0.0))
    rows = feasible_rows(problem, most=MOST)
    if rows is None:
        return by_placers(problem, FOR_PASSES)
    best = float(makespan_evaluator(problem).makespans(rows).min())
    return Reference(problem, best, True, Placement(problem, rows[0]))


def by_placers(problem: Problem, names: Sequence[str]) -> Reference:
    """Return the best of the placements that some placers find, starting from the last one's."""
    found = []
    for name in names:
        with suppress(PlacementError):
            found.append(placer_of(name)(problem, np.random.default_rng(0)))
    values = [value_of(placement) for placement in found]
    best = min(values) if problem.objective.is_pass else max(values)
    return Reference(problem, best, False, found[-1])


def value_of(placement: Placement) -> float:
    """Return the makespan of a placement, or its throughput."""
    problem = placement.problem
    if problem.objective.is_pass:
        return float(makespan_evaluator(problem).makespans(placement.devices)[0])
    return float(throughput(problem, placement.devices)[0])


def excess(problem: Problem, value: float, other: float) -> float:
    """Return by how much a makespan or throughput is better than another one, as a share."""
    better, worse = (other, value) if problem.objective.is_pass else (value, other)
    return better / worse - 1.0 if worse else 0.0


def proof_is_false(reference: Reference, proof: Found) -> bool:
    """Return whether the reference is better than a bound, or than what is called optimal."""
    problem, best = reference.problem, reference.best
    assert proof.bound is not None, "every proof has a bound"
    beyond = excess(problem, best, proof.bound)
    missed = excess(problem, best, value_of(proof.placement)) if proof.optimal else 0.0
    return beyond > ROUNDING or missed > PROVEN


def cp_sat_on_streams(reference: Reference, seed: int) -> tuple[bool, bool]:
    """Return whether CP-SAT proves a bound, and whether one of its answers is false.

    It is asked for what is better than the start, and for what the reference just reaches.
    """
    problem, best = reference.problem, reference.best
    bounded = is_false = False
    for asked in Incumbent(problem, reference.start).rate_to_beat, best * (1.0 - NEAR), best:
        rate = max(asked, NEAR) * (1.0 + ROUNDING)
        if len(problem.source_rates) > 1 or rate > problem.source_rate:
            continue
        decision = DecisionProblem(problem, rate)
        if not cp_sat.Model.is_small(decision):
            continue
        answer = cp_sat.Proof(decision, 1, seed).search(EFFORT, Budget(PROOF_SECONDS))
        bounded |= answer.proven
        if answer.proven:
            is_false |= best > rate * (1.0 + answer.margin + ROUNDING)
        if answer.found is not None:
            is_false |= value_of(answer.found) < rate * (1.0 - ROUNDING)
            is_false |= reference.tried and value_of(answer.found) > best * (1.0 + ROUNDING)
    return bounded, is_false


def cp_sat_on_pass(reference: Reference, seed: int) -> tuple[bool, bool]:
    """Return whether CP-SAT proves a makespan, and whether its bound is false."""
    scored = makespan_evaluator(reference.problem)
    proof = PassProof(scored, reference.start.devices)
    if proof.closed:  # as where all placements take no time
        return False, False
    proof.solve(PROOF_SECONDS, 1, seed)
    return proof.proven, proof_is_false(reference, proof.result())


def wide_pass(number: int) -> Problem:
    """Return a pass of up to 26 operators on up to 20 devices with links of their own."""
    rng = np.random.default_rng(number)
    operators, devices = int(rng.integers(6, 27)), int(rng.choice(DEVICES))
    names, hosts = [f"t{v}" for v in range(operators)], [f"d{d}" for d in range(devices)]
    types = [f"type{k}" for k in range(int(rng.integers(1, 4)))]
    tasks = [
        Operator(name, float(rng.uniform(5e7, 1.5e8)), 0.0, requires=(str(rng.choice(types)),))
        for name in names
    ]
    streams = [
        Stream(names[a], names[b], payload_bytes=float(rng.uniform(5e6, 1.5e7)))
        for b in range(operators)
        for a in sorted(rng.choice(b, min(b, int(rng.integers(1, 5))), replace=False).tolist())
    ]
    machines = [
        Device(
            host,
            float(rng.uniform(3, 10)),
            labels=tuple(types) if d == 0 else (types[d % len(types)],),
        )
        for d, host in enumerate(hosts)
    ]
    links = [
        LinkOverride(a, b, bandwidth_mbps=float(rng.uniform(50, 150)), latency_s=float(latency))
        for a in hosts
        for b in hosts
        if a != b
        for latency in rng.uniform(0, rng.choice((0.1, 20.0)), 1)
    ]
    kind = str(rng.choice(("free", "pair")))
    cluster = Cluster(machines, Network(kind, overrides=tuple(links)))  # type: ignore[arg-type]
    return Problem(StreamGraph(tasks, streams, firing="all"), cluster, objective=Makespan())


def loaded_job(number: int) -> Problem:
    """Return an overloaded job of up to 24 operators on up to 6 devices, whose links bind."""
    rng = np.random.default_rng(number)
    operators, devices = int(rng.integers(9, 25)), int(rng.integers(2, 7))
    names = [f"o{v}" for v in range(operators)]
    nodes = [Operator(name, float(rng.uniform(1e3, 2e4)), 0.0) for name in names]
    streams = [
        Stream(names[a], names[b], payload_bytes=float(rng.uniform(10, 2000)))
        for b in range(1, operators)
        for a in sorted(rng.choice(b, min(b, int(rng.integers(1, 4))), replace=False).tolist())
    ]
    equal = rng.random() < 0.5
    mips = np.full(devices, 2500.0) if equal else rng.uniform(1000, 4000, devices)
    machines = [Device(f"d{d}", float(mips[d])) for d in range(devices)]
    kind = str(rng.choice(("nic", "pair")))
    network = Network(kind, bandwidth_mbps=float(rng.uniform(20, 2000)))  # type: ignore[arg-type]
    return Problem(StreamGraph(nodes, streams), Cluster(machines, network), source_rate=1e5)


if __name__ == "__main__":
    main()
