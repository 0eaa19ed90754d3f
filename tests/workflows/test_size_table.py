"""Sizes at several source rates, some of which cannot be sustained."""

import pytest

import streamplace as sp
from streamplace.display.mixins import view_of
from streamplace.display.view import Grid, Line
from streamplace.errors import InfeasibleError
from streamplace.workflows.size import sizes
from streamplace.workflows.sizing.table import SizeTable, Unsized

READ = sp.StreamGraph([sp.Operator("read", 1e6, 0.0)], source_rate=1000.0)


def table(*rates: float) -> SizeTable:
    return sizes(READ, "3x1000", rates, evaluations=500)


def test_a_rate_that_cannot_be_sustained_is_a_row() -> None:
    found = table(1e3, 9e3, 2e3)
    reason = "3 devices cannot keep up: together they carry 3,000 of 9,000 tuples/s at most"
    assert [row.source_rate for row in found.sized] == [1e3, 2e3]
    failed = found.rows[1]
    assert isinstance(failed, Unsized)
    assert failed.to_dict() == {
        "source_rate": 9e3,
        "error": f"{reason}; add devices",
        "at_most": 3e3,
    }
    rows = found.to_dict()["rows"]
    assert [row["source_rate"] for row in rows] == [1e3, 9e3, 2e3]
    assert rows[2]["parallelism"] == {"read": 2}
    assert f"9,000 tuples/s: {reason}; add devices" in repr(found)


@pytest.mark.parametrize("rates", [(1e3, 9e3), (9e3, 1e3), (1e3, 2e3)])
def test_a_line_below_the_table_has_the_reason_of_a_failed_rate(rates: tuple[float, ...]) -> None:
    grid, *lines = view_of(table(*rates)).body
    assert isinstance(grid, Grid)
    assert {len(row) for row in grid.rows()} == {len(grid.head)}
    failed = [rate for rate in rates if rate == 9e3]
    assert len(grid.rows()) == len(rates) - len(failed)
    assert len(lines) == len(failed)
    for line in lines:
        assert isinstance(line, Line)
        assert line.text.startswith("no size for 9,000 tuples/s: 3 devices cannot keep up")


def test_if_no_rate_can_be_sustained_the_error_is_that_of_the_lowest() -> None:
    with pytest.raises(InfeasibleError, match="3,000 of 5,000"):
        table(9e3, 5e3, 7e3)
