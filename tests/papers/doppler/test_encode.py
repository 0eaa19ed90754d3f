"""Longest paths and orders of encoded problems."""

from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.doppler_state import Plain
from streamplace.learning.policy.config import SourcesFirst
from streamplace.papers.doppler.encode import encode, paths_of
from tests.support.doppler import flow_problem, pass_problem


@given(st.integers(0, 30), st.booleans())
def test_features_and_edges_equal_the_plain_ones(seed: int, is_pass: bool) -> None:
    problem = (pass_problem if is_pass else flow_problem)(10, seed)
    one, plain = encode(problem), Plain.of(problem)
    assert one.features == pytest.approx(plain.features, abs=1e-5)
    assert one.edges == pytest.approx(plain.edges, abs=1e-5)


@given(st.integers(0, 30))
def test_paths_follow_streams_to_an_end(seed: int) -> None:
    one = encode(pass_problem(10, seed))
    streams = set(zip(one.costs.source.tolist(), one.costs.target.tolist(), strict=True))
    for (owner, on), forward in ((one.to_exit, True), (one.to_entry, False)):
        for v in range(one.size):
            path = on[owner == v].tolist()
            assert path[0] == v
            for near, far in pairwise(path):
                assert ((near, far) if forward else (far, near)) in streams
            ends = {a if forward else b for a, b in streams}
            assert path[-1] not in ends


@pytest.mark.parametrize("order", get_args(SourcesFirst))
@given(st.integers(0, 30))
def test_the_order_is_topological(order: SourcesFirst, seed: int) -> None:
    one = encode(pass_problem(10, seed), order)
    position = np.argsort(one.order)
    assert sorted(one.order.tolist()) == list(range(one.size))
    assert (position[one.costs.source] < position[one.costs.target]).all()


def test_paths_of_a_chain() -> None:
    owner, on = paths_of(np.array([1, 2, -1], np.int32))
    pairs = sorted(zip(owner.tolist(), on.tolist(), strict=True))
    assert pairs == [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
