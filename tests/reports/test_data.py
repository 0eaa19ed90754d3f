"""Operators of graphs that the page does not draw, against a plain computation."""

from fractions import Fraction

import pytest
from hypothesis import given

from streamplace.problem.placement import Placement
from streamplace.reports.data import data_of, entry, operator_rows
from streamplace.scoring.flow import flow
from tests.support.chain_placement import chain_placement
from tests.support.instance_placements import instance_placements


@given(instance_placements(whole=False))
def test_rows_of_operators(placement: Placement) -> None:
    owners, on = placement.problem.graph.owners, placement.devices.tolist()
    work = [Fraction(float(each)) for each in flow(placement.problem).work]
    total = sum(work) or Fraction(1)
    expected: dict[str, tuple[int, int, float]] = {}
    for owner in owners:
        members = [v for v, other in enumerate(owners) if other == owner]
        part = sum(work[v] for v in members) / total
        expected[owner] = (len(members), len({on[v] for v in members}), float(part))
    rows = operator_rows(placement)
    assert len(rows) == len(expected)
    for row in rows:
        instances, devices, share = expected[row.name]
        assert (row.instances, row.devices) == (instances, devices)
        assert row.share == pytest.approx(share)
    shares = [row.share for row in rows]
    assert shares == sorted(shares, reverse=True)
    assert operator_rows(placement, 2) == rows[:2]


def test_the_page_gets_them_for_graphs_that_are_not_drawn() -> None:
    instances = {f"a[{i}]": "a" for i in range(600)}
    large = chain_placement(["s", *instances], [0] + [1] * 600, instances)
    data = data_of([entry("large", large)])
    assert data["graphs"][0]["logical"] == 2
    assert [row[:2] for row in data["placements"][0]["operators"]] == [("a", 600), ("s", 1)]
    plain = chain_placement([f"o{v}" for v in range(600)], [0] * 600, {})
    data = data_of([entry("plain", plain)])
    assert "logical" not in data["graphs"][0]
    assert "operators" not in data["placements"][0]
