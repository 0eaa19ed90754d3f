"""Annealing on draws of the loads: incremental loads equal those computed from scratch."""

import numpy as np
import pytest

from benchmarks.reference.message_problems import with_message_fields
from benchmarks.reference.uncertain_problems import uncertain_problem
from streamplace import Cluster, Device, Operator, Problem, Stream, StreamGraph
from streamplace.latency.sampled import CostDraws
from streamplace.placers.search.search import Search
from streamplace.problem.uncertainty import Uncertainty
from streamplace.scoring.compiled import compiled
from streamplace.scoring.flow import flow
from streamplace.sim.closed_form.bottleneck import utilisations
from streamplace.sim.flow import Flow
from streamplace.sim.search import Schedule, search_state
from streamplace.sim.search.anneal_samples import (
    BEYOND,
    anneal_samples,
    sampled_loads,
    sampled_state,
)
from streamplace.sim.work import own_utilisations
from tests.support.placers import seeded_rng

DRAWS = 6
LEAST, FULL = 0.9, 1.0


def excess_of(problem: Problem, draws: CostDraws, on: np.ndarray) -> float:
    """Return the summed excess of a placement of units, from ordinary scores of each draw."""
    arrays, feasibility = flow(problem), problem.feasibility
    devices = on[feasibility.unit_of]
    loads = draws.loads()
    total = 0.0
    for s in range(DRAWS):
        drawn = Flow(
            **{name: getattr(arrays, name) for name in Flow.__dataclass_fields__}
            | {"bits": np.ascontiguousarray(loads.bits[s])}
            | {"timed_instructions": loads.timed_instructions[s]}
        )
        vars(drawn).update(
            operator_tuples=np.ascontiguousarray(loads.operator_tuples[s]),
            work=np.ascontiguousarray(loads.work[s]),
            stream_tuples=np.ascontiguousarray(loads.tuples[s]),
        )
        device, link = utilisations(drawn, devices)
        own = np.zeros(feasibility.unit_count)
        if arrays.limits_operators:
            np.maximum.at(own, feasibility.unit_of, own_utilisations(drawn, devices))
        over = np.maximum(np.concatenate([device, link, own]) - LEAST, 0.0) / (FULL - LEAST)
        total += float(np.minimum(over, 1.0 + BEYOND * (over - 1.0)).sum())
    return total / DRAWS


SEEDS = (*range(10), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(10, 30)))


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_excess_of_the_best_placement_is_that_from_scratch(seed: int, shared: bool) -> None:
    problem = uncertain_problem(seed)
    if shared:
        problem = with_message_fields(problem, np.random.default_rng((seed, 4)))
    instance, feasibility = compiled(problem).instance, problem.feasibility
    draws = CostDraws(problem, Uncertainty.of(problem.graph), (seed,), DRAWS)
    loads = sampled_loads(flow(problem), feasibility.unit_of, instance, draws.loads())
    on = Search(evaluations=10)(problem, seeded_rng()).devices[feasibility.first_of]
    state, word = search_state(instance, on), np.array([seed + 1], dtype=np.uint64)
    sampled = sampled_state(instance, loads)
    plan = Schedule(steps=400, hot=0.5, cold=0.1, swaps=0.4, joins=0.25)
    found = anneal_samples(instance, loads, state, sampled, word, plan, LEAST, FULL)
    assert feasibility.violation(state.best[feasibility.unit_of]) is None
    assert found == pytest.approx(excess_of(problem, draws, state.best), rel=1e-9, abs=1e-9)
    assert found <= excess_of(problem, draws, on) + 1e-9
    now = float(sampled.excess.sum())
    assert now == pytest.approx(excess_of(problem, draws, state.on), rel=1e-9, abs=1e-9)


@pytest.mark.filterwarnings("error")
def test_operators_without_tuples_may_be_unable_to_run_somewhere() -> None:
    idle = Operator("idle", 1e6, 10, seconds_on={"gpu": None, "cpu": 1e-3})
    graph = StreamGraph(
        [Operator("a", 1e6, 10, instructions_se=1e5), idle, Operator("b", 1e6, 0.0)],
        [Stream("a", "idle", selectivity=0.0), Stream("idle", "b"), Stream("a", "b")],
        source_rate=100.0,
    )
    problem = Problem(
        graph, Cluster([Device("d0", 1000, kind="cpu"), Device("d1", 1000, kind="gpu")])
    )
    draws = CostDraws(problem, Uncertainty.of(graph), (0,), DRAWS)
    instance, feasibility = compiled(problem).instance, problem.feasibility
    loads = sampled_loads(flow(problem), feasibility.unit_of, instance, draws.loads())
    assert not loads.class_work[feasibility.unit_of[1]].any()
