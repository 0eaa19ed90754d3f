"""Advice about operators that are too heavy: each piece that is given helps when it is applied."""

from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from streamplace import (
    Cluster,
    Constraints,
    Device,
    Network,
    Operator,
    Placement,
    Problem,
    Stream,
    StreamGraph,
)
from streamplace.errors import InfeasibleError
from streamplace.problem.counts import expanded
from streamplace.scoring.throughput import max_source_rate
from streamplace.workflows.explain import explain_throughput as explain
from streamplace.workflows.remedies import remedies_of_core
from streamplace.workflows.too_heavy import TooHeavy, too_heavy
from tests.support.share import Share

FACTS = {
    "single": (1, {}, ("faster", "devices")),
    "two devices": (2, {}, ("instances", "faster")),
    "pinned": (2, {"pins": {"a": "d0"}}, ("faster",)),
}


def heavy_job(devices: int, constraints: dict[str, Any]) -> Problem:
    """Return an operator that needs 3,000 MIPS, and devices of one core with 2,500."""
    graph = StreamGraph(
        [Operator("a", 3e6, 10.0), Operator("b", 1e3, 0.0)], [Stream("a", "b")], source_rate=1000.0
    )
    rules = Constraints(**constraints)
    return Problem(graph, Cluster.equal(devices, mips=2500.0), constraints=rules)


@pytest.mark.parametrize("case", FACTS)
def test_only_changes_that_help_are_named(case: str) -> None:
    devices, rules, helping = FACTS[case]
    found = too_heavy(heavy_job(devices, rules))
    assert found is not None
    assert {*found.helping} == {*helping}


def test_a_plan_may_add_devices_for_instances() -> None:
    found = too_heavy(heavy_job(1, {}), grows=True)
    assert found is not None
    assert found.text()[0].endswith(": run 2 instances of it, or use a device of 3,000 MIPS")


def test_operators_that_have_no_other_device_are_not_parted() -> None:
    operators = [Operator(name, 1.5e6, 0.0) for name in "ab"]
    graph = StreamGraph(operators, [Stream("a", "b")], source_rate=1000.0)
    rules = Constraints(colocate=[["a", "b"]])
    for devices, helps in ((1, False), (2, True)):
        cluster = Cluster.equal(devices, mips=2500.0)
        found = too_heavy(Problem(graph, cluster, constraints=rules))
        assert found is not None
        assert ("keep fewer together" in found.text()[0]) is helps


def random_job(rng: np.random.Generator) -> Problem:
    """Return a small overloaded job: unequal devices, links, rules, labels, memory and cores."""
    names = "abc"[: rng.integers(1, 4)]
    operators = [
        Operator(
            name,
            float(rng.integers(1, 40)) * 1e5,
            float(rng.choice([0.0, 1e3, 1e5])),
            memory_bytes=float(rng.choice([0, 2])),
            cores=int(rng.choice([1, 1, 4])),
            requires=("x",) if rng.random() < 0.2 else (),
        )
        for name in names
    ]
    streams = [Stream(a, b) for a, b in pairwise(names)]
    graph = StreamGraph(operators, streams, source_rate=1000.0)
    devices = [
        Device(
            f"d{i}",
            float(rng.choice([1000.0, 2000.0, 2500.0])),
            int(rng.choice([1, 1, 2])),
            labels=("x",) if i == 0 or rng.random() < 0.5 else (),
            memory_bytes=float(rng.choice([4, 9])),
            slots=int(rng.choice([1, 3])) if rng.random() < 0.3 else None,
        )
        for i in range(rng.integers(1, 4))
    ]
    rules: dict[str, Any] = {}
    if rng.random() < 0.3:
        rules["pins"] = {names[0]: "d0"}
    if len(names) > 1 and rng.random() < 0.4:
        rules["colocate"] = [[names[0], names[1]]]
    network = Network(str(rng.choice(["pair", "nic"])), bandwidth_mbps=1000.0)  # type: ignore[arg-type]
    return Problem(graph, Cluster(devices, network), constraints=Constraints(**rules))


def carried(problem: Problem) -> float:
    """Return the highest source rate of any feasible placement, in tuples/s."""
    count, found = len(problem.cluster.devices), 0.0
    for row in product(range(count), repeat=len(problem.graph.names)):
        on = np.array(row, np.int32)
        if problem.feasibility.violation(on) is None:
            found = max(found, max_source_rate(problem, on) or np.inf)
    return found


def applied(problem: Problem, cause: TooHeavy, remedy: str) -> list[Problem]:
    """Return the problems that follow a piece of advice; one of them has to carry more."""
    graph, cluster, rules = problem.graph, problem.cluster, problem.constraints.stated
    device = cluster.devices[cluster.index[cause.device]]
    if remedy == "faster":
        own = graph.operators[graph.index[cause.operators[0]]].cores
        cores = min(own, device.cores) if cause.of_core else device.cores
        fast = replace(device, mips=cause.enough_mips / cores)
        every = [fast if each is device else each for each in cluster.devices]
        return [Problem(graph, Cluster(every, cluster.network), constraints=rules)]
    if remedy == "apart":
        fewer = [replace(rules, colocate=[]), replace(rules, pins={})]
        fewer.append(replace(rules, colocate=[], pins={}))
        return [Problem(graph, cluster, constraints=less) for less in fewer]
    several = expanded(graph, {cause.operators[0]: cause.instances})
    if remedy == "devices":
        room = replace(device, memory_bytes=None, slots=None)
        more = [replace(room, name=f"new{i}") for i in range(cause.instances)]
        cluster = Cluster([*cluster.devices, *more], cluster.network)
    return [Problem(several, cluster, constraints=rules)]


def test_each_piece_of_advice_helps(share: Share) -> None:
    """Every placement of small random jobs is scored, before and after each change."""
    advised = 0
    for seed in share.of(range(150)):
        try:
            problem = random_job(np.random.default_rng(seed))
        except InfeasibleError:
            continue
        first = next(
            (
                np.array(row, np.int32)
                for row in product(
                    range(len(problem.cluster.devices)), repeat=len(problem.graph.names)
                )
                if problem.feasibility.violation(np.array(row, np.int32)) is None
            ),
            None,
        )
        if first is None:
            continue
        cause = explain(Placement(problem, first)).cause
        for remedy in () if cause is None else cause.helping:
            assert cause is not None
            after = max(map(carried, applied(problem, cause, remedy)))
            assert after > carried(problem) * 1.001, (seed, remedy)
            advised += 1
    assert advised >= share.least(30)


@pytest.mark.parametrize(("cores", "helping"), [(4, ("cores", "instances")), (1, ())])
def test_what_helps_where_an_operator_fills_a_core(cores: int, helping: tuple[str, ...]) -> None:
    """On a device of one core, neither more cores nor more instances carry more."""
    graph = StreamGraph([Operator("heavy", 5e6, 0.0)], source_rate=1e3)
    problem = Problem(graph, f"1x2500x{cores}")
    assert remedies_of_core(Placement(problem, [0]), "heavy") == helping
