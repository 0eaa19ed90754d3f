"""Status, limits and refusals of the placer `exact`; its proofs are in test_brute_force.py."""

import numpy as np
import pytest

from benchmarks.reference.random_problems import optimum, random_problem
from streamplace import Cluster, Constraints, Device, Problem, StreamGraph
from streamplace.errors import InfeasibleError, UsageError
from streamplace.placers.exact.exact import Exact
from streamplace.problem.objective import Model
from streamplace.scoring.registry import CLOSED_FORMS
from tests.support.graphs import chain_graph
from tests.support.placements import solve, throughput_of

TOLERANCE, SLACK = 1e-9, 1 + 1e-9
MAX_PLACEMENTS = {"bottleneck": 20_000, "path-average": 3_000}  # limit for brute force


@pytest.mark.parametrize("model", CLOSED_FORMS)
def test_the_bound_holds_without_time_for_a_proof(model: Model) -> None:
    """The initial search ignores the time limit, and the bound holds even without a proof."""
    for seed in range(200, 215):
        problem = random_problem(seed, model, MAX_PLACEMENTS[model])
        proof = Exact(seconds=0.0).run(problem, np.random.default_rng(0))
        best = optimum(problem)
        assert throughput_of(problem, proof.placement.devices) <= best * SLACK
        assert proof.bound is not None
        assert best <= proof.bound * SLACK
        if proof.optimal:
            assert throughput_of(problem, proof.placement.devices) == pytest.approx(
                best, rel=TOLERANCE
            )


def hard() -> Problem:
    """Return a problem with 27 operators of almost equal work, which is slow to prove."""
    rng = np.random.default_rng(3)
    graph = StreamGraph.from_columns(
        [f"op{v}" for v in range(27)],
        rng.integers(300_000, 330_000, size=27).astype(float),
        np.zeros(27),
        np.array([(v - 1, v) for v in range(1, 27)]),
    )
    return Problem(graph, Cluster.equal(4, 700.0), source_rate=1e3)


def test_the_status_says_whether_the_optimum_is_proven() -> None:
    easy = solve(Problem(chain_graph(1e5, 2e5, 3e5, 1e5)), "exact")
    assert easy.status == "OPTIMAL"
    assert easy.gap == pytest.approx(0.0, abs=TOLERANCE)
    assert easy.to_dict()["status"] == "OPTIMAL"
    late = solve(hard(), "exact:seconds=0")
    assert late.status == "FEASIBLE"
    assert late.gap is not None
    assert late.gap > TOLERANCE
    assert solve(Problem(chain_graph(1e5, 2e5)), "greedy").status is None


def test_the_result_is_never_worse_than_the_initial_placement() -> None:
    problem = hard()
    good = Exact(seconds=0.0)(problem, np.random.default_rng(0))
    for seed in range(3):
        again = Exact(seconds=0.0)(problem, np.random.default_rng(seed), good)
        assert throughput_of(problem, again.devices) >= throughput_of(problem, good.devices)


def test_the_same_seed_gives_the_same_placement() -> None:
    problem = random_problem(7, "bottleneck", MAX_PLACEMENTS["bottleneck"])
    first, again = (Exact(seconds=600.0)(problem, np.random.default_rng(1)) for _ in range(2))
    assert np.array_equal(first.devices, again.devices)


def test_the_engine_and_invalid_options_are_refused() -> None:
    problem = Problem(chain_graph(1e5, 2e5), model="engine")
    with pytest.raises(UsageError, match="not engine"):
        Exact()(problem, np.random.default_rng(0))
    with pytest.raises(UsageError, match="at least 0"):
        Exact(seconds=-1.0)
    for workers in (0, 1025, 2**31):
        with pytest.raises(UsageError, match="workers must be 1 to 1024"):
            Exact(workers=workers)


def test_contradictory_constraints_are_refused() -> None:
    cluster = Cluster([Device("d0", 1e3), Device("d1", 1e3)])
    rules = Constraints(colocate=[["a", "b"]], exlocate=[["a", "b"]])
    with pytest.raises(InfeasibleError):
        Exact()(
            Problem(chain_graph(1e5, 2e5), cluster, constraints=rules), np.random.default_rng(0)
        )
