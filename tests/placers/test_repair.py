"""Drafts that cannot be repaired."""

import numpy as np
import pytest

from streamplace import Placement, Problem
from streamplace.errors import PlacementError
from streamplace.placers import repair
from streamplace.util.arrays import Ints
from tests.support.graphs import chain_graph


def test_drafts_that_cannot_be_repaired_are_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only if no draft can be repaired, an error is raised."""
    problem = Problem(chain_graph(1.0, 1.0, 1.0, 1.0))
    original = repair.feasible
    calls: list[int] = []

    def sometimes(problem: Problem, draft: Ints) -> Placement:
        calls.append(len(calls))
        if calls[-1] % 3:
            raise PlacementError("found none")
        return original(problem, draft)

    monkeypatch.setattr(repair, "feasible", sometimes)
    drafts = np.zeros((5, 4), dtype=np.int32)
    assert len(repair.feasible_ones(problem, drafts)) == 2
    with pytest.raises(PlacementError, match="found none"):
        repair.feasible_ones(problem, drafts[:1])
