"""Workloads of the third stage: small, suitable for the testbed, and between two times."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.testbed.passes.problems import WORK_S
from benchmarks.testbed.passes.suitability import suitable
from benchmarks.testbed.passes.third_stage.workloads import FAMILIES, compressed, workloads


def test_workloads_are_small_and_suit_the_testbed() -> None:
    found = list(workloads(4, seed=0))
    assert [problem.graph.name for problem in found] == list(FAMILIES)
    for problem in found:
        suitable(problem)
        assert 8 <= len(problem.graph.names) <= 14
        seconds = problem.graph.instructions / 1e9
        assert (seconds.min(), seconds.max()) == pytest.approx(WORK_S)
    assert len(list(workloads(2, seed=0))) == 2


@given(st.lists(st.floats(1e-6, 1e12), min_size=1, max_size=8))
def test_compression_keeps_ranks(values: list[float]) -> None:
    mapped = compressed(np.array(values), (0.005, 0.05))
    order = np.argsort(values, kind="stable")
    assert (np.diff(mapped[order]) >= 0).all()
    assert ((mapped >= 0.005 * (1 - 1e-9)) & (mapped <= 0.05 * (1 + 1e-9))).all()
