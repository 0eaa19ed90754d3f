"""The grouping of edges by value, and the matrix per value."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from streamplace.papers.doppler.encode import groups_of
from tests.support.doppler import doppler, pass_problem
from tests.support.policies import batch_of


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
