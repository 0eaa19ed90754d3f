"""Progressive filling: by hand, against linear programs, and its properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference import max_min
from streamplace.sim.filling import CAPPED, fill
from streamplace.util.arrays import Floats, Ints

Input = tuple[Floats, Floats, Floats, Floats, Ints]


def filled(
    loads: object,
    caps: object = None,
    least: object = None,
    weights: object = None,
    classes: object = None,
) -> tuple[Floats, Floats, Ints]:
    """Return reserved parts, shares and limits of one placement, (J,) each."""
    table = np.array(loads, dtype=np.float64)
    jobs = len(table)
    ceilings = np.ones(jobs) if caps is None else np.array(caps, dtype=np.float64)
    floors = np.zeros(jobs) if least is None else np.array(least, dtype=np.float64)
    speeds = np.ones(jobs) if weights is None else np.array(weights, dtype=np.float64)
    order = np.zeros(jobs, np.int32) if classes is None else np.array(classes, dtype=np.int32)
    reserved, shares = np.empty((1, jobs)), np.empty((1, jobs))
    limits = np.empty((1, jobs), dtype=np.int32)
    fill(table[None], ceilings[None], floors, speeds, order, reserved, shares, limits)
    return reserved[0], shares[0], limits[0]


@st.composite
def inputs(draw: st.DrawFn) -> Input:
    """Return loads, (J, R), and the caps, minimums, weights and classes of jobs, (J,)."""
    jobs, resources = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    number = st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0, 1.5, 4.0])
    loads = [[draw(number) for _ in range(resources)] for _ in range(jobs)]

    def column(values: list[float]) -> Floats:
        return np.array([draw(st.sampled_from(values)) for _ in range(jobs)])

    classes = [draw(st.integers(0, jobs - 1)) for _ in range(jobs)]
    ranks = {c: rank for rank, c in enumerate(sorted(set(classes)))}
    return (
        np.array(loads),
        column([0.3, 0.8, 1.0, 1.0]),
        column([0.0, 0.0, 0.1, 0.4]),
        column([0.5, 1.0, 1.0, 3.0]),
        np.array([ranks[c] for c in classes], dtype=np.int32),
    )


@given(inputs())
def test_shares_are_those_of_linear_programs(case: Input) -> None:
    reserved, shares, _ = filled(*case)
    wanted = max_min.shares(*case)
    assert reserved == pytest.approx(wanted[0], abs=1e-6)
    assert shares == pytest.approx(wanted[1], abs=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_shares_of_many_jobs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    jobs, resources = int(rng.integers(2, 9)), int(rng.integers(1, 12))
    case = (
        rng.random((jobs, resources))
        * rng.choice([0.3, 2.0])
        * (rng.random((jobs, resources)) < 0.5),
        rng.uniform(0.2, 1.0, jobs),
        rng.choice([0.0, 0.05, 0.2], jobs),
        rng.uniform(0.2, 3.0, jobs),
        np.unique(rng.integers(0, 3, jobs), return_inverse=True)[1].astype(np.int32),
    )
    reserved, shares, _ = filled(*case)
    wanted = max_min.shares(*case)
    assert reserved == pytest.approx(wanted[0], abs=1e-6)
    assert shares == pytest.approx(wanted[1], abs=1e-6)


@given(inputs())
def test_no_resource_is_overloaded_and_every_limit_is_one(case: Input) -> None:
    loads, caps, _, _, _ = case
    reserved, shares, limits = filled(*case)
    used = shares @ loads
    assert (used <= 1.0 + 1e-9).all()
    assert (reserved <= shares + 1e-12).all()
    for share, cap, limit, own in zip(shares, caps, limits, loads, strict=True):
        if limit == CAPPED:
            assert share == cap
        else:
            assert own[limit] > 0
            assert used[limit] == pytest.approx(1.0)


@given(inputs())
def test_a_class_gets_what_it_gets_without_later_ones(case: Input) -> None:
    """Without minimums, jobs of later classes take nothing from earlier ones."""
    loads, caps, _, weights, classes = case
    free = np.zeros(len(caps))
    for last in range(int(classes.max())):
        kept = classes <= last
        _, of_all, _ = filled(loads, caps, free, weights, classes)
        _, of_some, _ = filled(loads[kept], caps[kept], free[kept], weights[kept], classes[kept])
        assert of_all[kept] == pytest.approx(of_some, abs=1e-12)


def test_weights() -> None:
    _, shares, limits = filled([[1.0], [1.0]], weights=[3.0, 1.0])
    assert shares == pytest.approx([0.75, 0.25])
    assert limits.tolist() == [0, 0]


def test_a_job_that_cannot_rise_leaves_the_rest_to_others() -> None:
    _, shares, limits = filled([[0.2], [2.0]], caps=[0.1, 1.0])
    assert shares == pytest.approx([0.1, 0.49])
    assert limits.tolist() == [CAPPED, 0]


def test_jobs_on_different_resources_rise_on() -> None:
    """Job 0 stops on the first resource; job 2 does not use it and fills the second one."""
    _, shares, limits = filled([[2.0, 0.0], [2.0, 1.0], [0.0, 1.0]])
    assert shares == pytest.approx([0.25, 0.25, 0.75])
    assert limits.tolist() == [0, 0, 1]


def test_minimums_come_before_classes() -> None:
    """The later class keeps its minimum, and the earlier one has the rest."""
    reserved, shares, _ = filled([[1.0], [1.0]], least=[0.0, 0.3], classes=[0, 1])
    assert reserved == pytest.approx([0.0, 0.3])
    assert shares == pytest.approx([0.7, 0.3])


def test_a_minimum_counts_towards_the_share() -> None:
    """The job that starts at its minimum waits until the other one has caught up."""
    _, shares, _ = filled([[1.0], [1.0]], least=[0.4, 0.0])
    assert shares == pytest.approx([0.5, 0.5])


def test_minimums_of_earlier_classes_hold_first() -> None:
    reserved, shares, limits = filled([[1.0], [1.0]], least=[0.8, 0.4], classes=[0, 1])
    assert reserved == pytest.approx([0.8, 0.2])
    assert shares == pytest.approx([0.8, 0.2])
    assert limits.tolist() == [0, 0]
