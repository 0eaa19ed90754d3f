"""Throughput with times by kind of device, firing, multicast and costs by byte: the oracle."""

import numpy as np
import pytest

from benchmarks.reference import oracle
from benchmarks.reference.grouped_problems import grouped_cluster
from benchmarks.reference.message_problems import possible_devices, with_message_fields
from benchmarks.reference.random_problems import random_problem
from streamplace.errors import GraphError, InfeasibleError
from streamplace.problem.objective import Model
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.throughput import throughput
from tests.support.share import Share

EACH = 10  # placements of one problem
GROUPED = 2  # remainder of the seeds of problems with groups
TOLERANCE = 1e-9


def drawn_problem(seed: int, model: Model) -> Problem | None:
    """Return a random problem with the fields, at one rate; None if it cannot have them."""
    rng = np.random.default_rng((seed, 1))
    plain = random_problem(seed, model).with_source_rate(float(rng.integers(3, 30)) * 100.0)
    if seed % 3 == GROUPED:  # some groups of devices share links
        cluster = grouped_cluster(plain.cluster, rng)
        plain = Problem(plain.graph, cluster, source_rate=plain.source_rate, model=model)
    try:
        problem = with_message_fields(plain, rng)
        flow(problem)
    except (GraphError, InfeasibleError):
        return None
    return problem.with_objective(problem.objective.with_changes(target_utilisation=1.0))


def compared(seed: int, model: Model) -> int:
    """Compare the scores of random placements with the oracle's; return their number."""
    problem = drawn_problem(seed, model)
    if problem is None:
        return 0
    rng = np.random.default_rng((seed, 2))
    rows = np.stack([possible_devices(problem, rng) for _ in range(EACH)])
    for row, found in zip(rows, throughput(problem, rows).tolist(), strict=True):
        expected = oracle.throughput(problem, row.tolist())
        assert found == pytest.approx(expected, rel=TOLERANCE), (seed, row.tolist())
    return len(rows)


@pytest.mark.long
def test_scores_equal_the_oracles() -> None:
    assert sum(compared(seed, "bottleneck") for seed in range(50)) > 200
    assert sum(compared(seed, "path-average") for seed in range(10)) > 20


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_many_scores_equal_the_oracles(part: int, share: Share) -> None:
    first = 10_000 + 1_000 * part
    loads, paths = range(first, first + 650), range(first, first + 100)
    assert sum(compared(s, "bottleneck") for s in share.of(loads)) > share.least(4_500)
    assert sum(compared(s, "path-average") for s in share.of(paths)) > share.least(500)
