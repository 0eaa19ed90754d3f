"""Objectives in placement files."""

import pytest

import streamplace as sp
from streamplace.files.stored_objectives import objective_to
from streamplace.problem.objectives import make_objective
from tests.support.objectives import Net


@pytest.mark.parametrize(
    "objective", [Net(), Net(price=3), Net(title="a=b c"), Net(rounded=True), Net(levels=0)]
)
def test_files_store_an_objective_that_can_be_read_back(objective: sp.Throughput) -> None:
    (entry,) = objective_to(objective).values()
    assert make_objective(entry) == objective
