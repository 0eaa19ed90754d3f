"""Single moves of operators in small chunks, and with a limit."""

import pytest
from hypothesis import given

from benchmarks.reference.strategies import cases
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.workflows import single_moves
from streamplace.workflows.explain import explain_throughput as explain


@given(cases("path-average"))
def test_small_chunks_and_a_limit_on_moves(case: tuple[Problem, list[int]]) -> None:
    placement = Placement(*case)
    complete = explain(placement)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(single_moves, "AT_ONCE", 1)
        assert explain(placement) == complete
        patch.setattr(single_moves, "MAX_MOVES", 2)
        assert explain(placement).moves == complete.moves[:2]
