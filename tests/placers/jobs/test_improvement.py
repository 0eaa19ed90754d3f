"""Local search on joint placements: it never gets worse, and finds what single moves cannot."""

import numpy as np
import pytest

from benchmarks.reference.two_jobs import two_jobs
from streamplace import Cluster
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.jobs.enumeration import best_of_all, is_small
from streamplace.placers.jobs.improvement import Improvement
from streamplace.placers.repair import feasible
from streamplace.scoring.joint import JointProblem
from tests.support.jobs import competing_jobs


@pytest.mark.parametrize("seed", range(10))
def test_the_result_is_feasible_and_no_worse_than_the_start(seed: int) -> None:
    try:
        joint = JointProblem(*two_jobs(seed))
        start = feasible(joint.union, np.zeros(len(joint.union.graph.names), np.int32)).devices
    except (InfeasibleError, PlacementError):
        return
    found = Improvement(300)(joint, start, np.random.default_rng(seed))
    assert joint.union.feasibility.violation(found) is None
    before, after = joint.worth(np.stack([start, found]))
    assert tuple(after) >= tuple(before)
    again = Improvement(300)(joint, start, np.random.default_rng(seed))
    assert (again == found).all()


def test_from_one_device_each_job_gets_its_own() -> None:
    joint = JointProblem(competing_jobs(), Cluster.equal(2))
    found = Improvement(1000)(joint, np.zeros(4, np.int32), np.random.default_rng(0))
    assert joint.carries_all(joint.worth(found[None, :])[0])


def test_without_choice_the_start_is_the_result() -> None:
    joint = JointProblem(competing_jobs(), Cluster.equal(1))
    start = np.zeros(4, np.int32)
    assert (Improvement(1000)(joint, start, np.random.default_rng(0)) == start).all()


@pytest.mark.parametrize("seed", range(10))
def test_enumeration_is_at_least_as_good(seed: int) -> None:
    try:
        joint = JointProblem(*two_jobs(seed))
    except InfeasibleError:
        return
    assert is_small(joint)
    best = best_of_all(joint)
    if best is None:
        return
    found = Improvement(300)(joint, best, np.random.default_rng(seed))
    assert (
        joint.worth(found[None, :])[0, :-1].tolist() == joint.worth(best[None, :])[0, :-1].tolist()
    )
