"""The fluid queue, compared with a loop over its steps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.plain_queue import plain_queue
from streamplace.control.simulated.job import work_off

TUPLES = st.integers(0, 1000).map(float)


@given(TUPLES, st.lists(st.tuples(TUPLES, TUPLES), min_size=1, max_size=40))
def test_every_step_is_that_of_the_loop(waiting: float, rows: list[tuple[float, float]]) -> None:
    offered, capacity = (np.array(column) for column in zip(*rows, strict=True))
    after, served = work_off(waiting, offered, capacity)
    expected = plain_queue(waiting, offered.tolist(), capacity.tolist())
    assert after == pytest.approx(expected[0])
    assert served == pytest.approx(expected[1])
    assert waiting + offered.sum() == pytest.approx(served.sum() + after[-1])
