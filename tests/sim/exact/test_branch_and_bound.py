"""The branch and bound on whole units, compared with brute force, and what the look ahead saves."""

from collections.abc import Iterable

import pytest

from benchmarks.false_proofs import loaded_job
from benchmarks.reference.random_problems import optimum, random_problem
from streamplace import Problem
from streamplace.errors import GraphError
from streamplace.problem.symmetry import identical_devices
from streamplace.scoring.compiled import compiled
from streamplace.sim.exact import FOUND, REFUTED, Dive, dive, hardness, refute
from tests.support.share import Share

OVERLOAD = 1e6  # tuples/s
NODES = 10_000_000  # more than any of the small problems takes


def search_of(problem: Problem, rate: float) -> tuple[Dive, float]:
    """Return a search for a placement that carries a rate, and its limit."""
    instance = compiled(problem).instance
    limit = problem.source_rate / (rate * instance.reference)
    identical = identical_devices(problem.cluster, problem.constraints)
    return dive(instance, identical, limit, hardness(instance)), limit


def decided(seeds: Iterable[int]) -> int:
    """Decide two rates around the optimum; return the number of problems with interfaces."""
    found = 0
    for seed in seeds:
        problem = random_problem(seed, "bottleneck", 5_000)
        if problem.cluster.network.kind != "nic" or len(problem.cluster.devices) == 1:
            continue
        try:
            problem = problem.with_source_rate(OVERLOAD)
            best = optimum(problem)
        except GraphError:
            continue
        if not 0.0 < best < OVERLOAD * 0.999:
            continue
        found += 1
        instance = compiled(problem).instance
        for share, verdict in ((1 - 1e-6, FOUND), (1 + 1e-6, REFUTED)):
            search, limit = search_of(problem, best * share)
            assert refute(instance, search, limit, NODES) == verdict, (seed, share)
    return found


def test_it_decides_as_brute_force_does() -> None:
    assert decided(range(60)) > 10


@pytest.mark.long
def test_it_decides_many_as_brute_force_does(share: Share) -> None:
    assert decided(share.of(range(1_000, 4_000))) > share.least(700)


def test_traffic_that_cannot_join_ends_a_search_early() -> None:
    """Without the look ahead, it takes three times as many nodes: 9,600 instead of 3,200."""
    problem = loaded_job(215)
    assert problem.cluster.network.kind == "nic"
    search, limit = search_of(problem, 8214.05)
    assert refute(compiled(problem).instance, search, limit, 4_000) == REFUTED
