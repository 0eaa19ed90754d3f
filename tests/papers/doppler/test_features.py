"""Longest paths, orders, and the grouping of edges by value in encoded problems."""

from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.doppler_state import Plain
from streamplace.papers.doppler.features import encode, groups_of, paths_of
from streamplace.papers.doppler.sizes import SourcesFirst
from tests.support.doppler import doppler, flow_problem, pass_problem
from tests.support.policies import batch_of


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


@given(st.lists(st.integers(0, 4), min_size=0, max_size=40))
def test_groups_hold_every_edge_once(kinds: list[int]) -> None:
    number = np.arange(len(kinds), dtype=np.int32)
    groups = groups_of(number, number + 100, np.array(kinds, float) / 7, operators=1000)
    found = []
    for of, sources, targets in zip(groups.value_of, groups.source, groups.target, strict=True):
        for e, target in zip(sources, targets, strict=True):
            if e < 1000:
                assert target == e + 100
                assert groups.values[of] == kinds[e] / 7
                found.append(e)
    assert sorted(found) == number.tolist()
    assert groups.source.size <= 4 * len(kinds)
    assert len(groups.values) == len(set(kinds))


def test_a_matrix_is_made_once_per_value() -> None:
    policy = doppler()
    batch = batch_of(policy, pass_problem(12, 1), pass_problem(10, 2))
    assert policy.select is not None
    rows: list[int] = []
    hook = policy.select.passing.matrix.register_forward_hook(
        lambda layer, arguments, made: rows.append(len(made))
    )
    with torch.no_grad():
        policy.select.embed(batch, None)
    hook.remove()
    assert rows == [len(torch.unique(batch.values))]
    assert rows[0] < batch.source.numel()
