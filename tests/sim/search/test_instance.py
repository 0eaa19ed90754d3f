"""Instances on some of the devices: loads are those on the whole cluster."""

import numpy as np
import pytest

from benchmarks.reference.grouped_problems import grouped_problem
from benchmarks.reference.message_problems import message_problem
from benchmarks.reference.random_problems import random_problem
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.sim.search import on_devices, search_state


def check(problem: Problem, seed: int) -> None:
    """Compare the loads of a random placement on some devices with those on all."""
    rng = np.random.default_rng(seed)
    whole, count = compiled(problem).instance, len(problem.cluster.devices)
    devices = rng.permutation(count)[: int(rng.integers(1, count + 1))].astype(np.int32)
    fewer = on_devices(whole, devices)
    on = rng.integers(0, len(devices), len(whole.work)).astype(np.int32)
    expected, load = search_state(whole, devices[on]).load, search_state(fewer, on).load
    assert load.max() == pytest.approx(expected.max(), rel=1e-9)
    assert np.sort(load[load > 0]) == pytest.approx(np.sort(expected[expected > 0]), rel=1e-9)
    assert load[: len(devices)] == pytest.approx(expected[devices], rel=1e-9)
    assert (fewer.allowed == whole.allowed[:, devices]).all()
    assert (fewer.room == whole.room[devices]).all()


@pytest.mark.parametrize("seed", range(30))
def test_loads_on_some_devices_are_those_on_all(seed: int) -> None:
    check(random_problem(seed), seed)


@pytest.mark.parametrize("seed", range(30))
def test_uplinks_stay(seed: int) -> None:
    check(grouped_problem(seed), seed)


@pytest.mark.parametrize("seed", range(30))
def test_messages_and_times_by_kind_stay(seed: int) -> None:
    problem = message_problem(seed, "bottleneck", 10**6)
    if problem is not None:
        check(problem, seed)
