"""The critical-path expert, compared with a plain partial placement."""

import numpy as np
import pytest
import torch

import streamplace as sp
from benchmarks.reference.doppler_state import Plain, PlainState
from streamplace.errors import UnsuitableError
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.teachers import CriticalPath, Teacher
from tests.support.doppler import doppler, flow_problem, pass_problem
from tests.support.graphs import chain_graph
from tests.support.policies import batch_of, seeded_generator

SAMPLES = 2


def test_best_operators_and_devices_equal_the_plain_ones() -> None:
    problems = [pass_problem(10, 1), pass_problem(7, 2)]
    expert, rng = CriticalPath(problems, SAMPLES), np.random.default_rng(0)
    plain = [Plain.of(problem) for problem in problems]
    states = [PlainState(one) for one in plain for _ in range(SAMPLES)]
    for step in range(10):
        now = states if step < 7 else states[:SAMPLES]
        candidates = np.zeros((len(now), 10), np.bool_)
        for row, state in enumerate(now):
            candidates[row, state.candidates()] = True
        best = expert.select(candidates)
        for row, state in enumerate(now):
            levels = {v: state.plain.features[v, 4] for v in state.candidates()}
            highest = [v for v, level in levels.items() if level == max(levels.values())]
            assert np.flatnonzero(best[row]).tolist() == highest
        operators = np.array([rng.choice(state.candidates()) for state in now], np.int32)
        devices = rng.integers(3, size=len(now)).astype(np.int32)
        named = expert.judge(operators, devices)
        for row, (state, v) in enumerate(zip(now, operators.tolist(), strict=True)):
            starts = [features[4] for features in state.device_features(v)]
            expected = [start <= min(starts) * (1 + 1e-9) for start in starts]
            assert named[row].tolist() == expected
            state.place(v, int(devices[row]))


def test_only_allowed_devices_are_best() -> None:
    rules = sp.Constraints(pins={"b": "d1"})
    problem = sp.Problem(
        chain_graph(1e5, 2e5, 3e5), "3x1000", constraints=rules, objective=sp.Makespan()
    )
    pinned = problem.cluster.names.index("d1")
    expert = CriticalPath([problem], 1)
    assert expert.judge(np.array([0], np.int32), np.array([0], np.int32)).all()
    best = expert.judge(np.array([1], np.int32), np.array([pinned], np.int32))
    assert np.flatnonzero(best[0]).tolist() == [pinned]


def test_throughput_is_refused() -> None:
    with pytest.raises(UnsuitableError, match="supports only makespan, not throughput"):
        CriticalPath([flow_problem()], 1)


def test_agreement_has_both_parts() -> None:
    """The log-probability of tied operators and devices is that of any, or the sum over each."""
    problem, policy = pass_problem(9, 3), doppler()
    found = {}
    for ties in ("any", "each"):
        teacher = Teacher(CriticalPath, ties)
        with torch.no_grad():
            made = policy.rollout(
                batch_of(policy, problem), SAMPLES, Sampler(seeded_generator()), teacher=teacher
            )
        assert made.agreement is not None
        found[ties] = made.agreement
    assert (found["any"][..., 0] < 0.0).any()
    assert (found["any"][..., 1] < 0.0).any()
    assert (found["each"] <= found["any"] + 1e-5).all()
    assert (found["each"] < found["any"] - 1e-3).any()
