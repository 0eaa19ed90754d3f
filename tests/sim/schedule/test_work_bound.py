"""The work bound, compared with linear programs."""

import numpy as np
import pytest

from streamplace.sim.flow import Floats
from streamplace.sim.schedule.bounds import work_bound


def drawn(seed: int) -> Floats:
    """Return seconds of operators on devices; some cannot run somewhere."""
    rng = np.random.default_rng(seed)
    operators, devices = int(rng.integers(1, 30)), int(rng.integers(1, 6))
    shares = rng.uniform(0.1, 1.0, (operators, devices)) * rng.uniform(0.5, 2.0, devices)
    shares[rng.random(shares.shape) < 0.3] = np.inf
    stuck = ~np.isfinite(shares).any(axis=1)
    shares[stuck, 0] = 1.0
    return shares


def least_makespan(shares: Floats) -> float:
    """Return the time in which devices can do divisible work, as a linear program."""
    optimize = pytest.importorskip("scipy.optimize")
    operators, devices = shares.shape
    runs = np.argwhere(np.isfinite(shares))
    rows = np.zeros((devices, len(runs) + 1))
    rows[:, -1] = -1.0
    whole = np.zeros((operators, len(runs) + 1))
    for i, (v, d) in enumerate(runs):
        rows[d, i], whole[v, i] = shares[v, d], 1.0
    costs = np.append(np.zeros(len(runs)), 1.0)
    ones = np.ones(operators)
    return float(optimize.linprog(costs, rows, np.zeros(devices), whole, ones).fun)


def test_it_is_close_to_the_optimum_of_a_linear_program() -> None:
    ratios = []
    for seed in range(60):
        shares = drawn(seed)
        zero = np.zeros(len(shares))
        ratios.append(work_bound(shares, zero, zero) / least_makespan(shares))
    assert max(ratios) <= 1 + 1e-9
    assert min(ratios) > 0.9
    assert np.mean(ratios) > 0.99


def test_work_between_a_head_and_a_tail() -> None:
    """Four operators of 2 s on two devices start at 3 s, and 5 s follow: 3 + 4 + 5."""
    shares = np.full((6, 2), 2.0)
    head = np.array([0.0, 3.0, 3.0, 3.0, 3.0, 9.0])
    tail = np.array([0.5, 5.0, 5.0, 5.0, 5.0, 0.0])
    assert work_bound(shares, head, tail) == pytest.approx(12.0)


def test_equal_devices_share_the_work() -> None:
    shares = np.tile(np.array([[3.0], [2.0], [4.0]]), (1, 3))
    assert work_bound(shares, np.zeros(3), np.zeros(3)) == pytest.approx(3.0)


def test_no_work() -> None:
    assert work_bound(np.zeros((2, 3)), np.zeros(2), np.zeros(2)) == 0.0


def drawn_work(rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Return shares, heads and tails of operators that take the same time on several devices."""
    operators, devices = int(rng.integers(2, 20)), int(rng.integers(2, 7))
    shares = rng.choice([0.25, 0.5, 1.0, 3.0, np.inf], (operators, devices))
    shares[~np.isfinite(shares).any(axis=1), 0] = 1.0
    head, tail = rng.uniform(0.0, 2.0, (2, operators))
    return shares, head, tail


@pytest.mark.parametrize("factor", [0.25, 2.0**-10, 2.0**20])
def test_the_unit_of_time_does_not_matter(factor: float) -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        work = drawn_work(rng)
        assert work_bound(*(factor * one for one in work)) == factor * work_bound(*work)


def test_the_order_of_devices_and_operators_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        shares, head, tail = drawn_work(rng)
        operators, devices = shares.shape
        bound = work_bound(shares, head, tail)
        assert work_bound(shares[:, rng.permutation(devices)], head, tail) == bound
        order = rng.permutation(operators)
        in_other_order = work_bound(shares[order], head[order], tail[order])
        assert in_other_order == pytest.approx(bound, rel=1e-12)
