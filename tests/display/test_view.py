"""Views: rows are made when they are rendered, and lists of names are bounded."""

import numpy as np
import pytest
from rich.console import Console

import streamplace as sp
from streamplace.display import notebook, terminal
from streamplace.display.mixins import Displayable, view_of
from streamplace.display.view import MAX_NAMES, Cell, Grid, Line, Names, View, short


class Counting(Displayable):
    """A value with a million rows that counts how many of them were made."""

    def __init__(self) -> None:
        self.made = 0

    def _view(self) -> View:
        return View("Counting", ("a detail",), (Grid(("n",), 10**6, self._row, names=()),))

    def _row(self, i: int) -> tuple[Cell, ...]:
        self.made += 1
        return (str(i),)


def printed(view: View) -> str:
    console = Console(width=200)
    with console.capture() as capture:
        console.print(terminal.render(view))
    return capture.get()


def test_rows_are_made_when_they_are_rendered() -> None:
    value = Counting()
    assert repr(value) == "<Counting\n  a detail>"
    assert view_of(value).body
    assert value.made == 0
    value._repr_html_()
    assert value.made == 12
    value.__rich__()
    assert value.made == 24


def test_a_displayable_type_needs_a_view() -> None:
    class Silent(Displayable):
        pass

    with pytest.raises(TypeError, match="_view"):
        Silent()  # type: ignore[abstract]


@pytest.mark.parametrize(
    ("max_rows", "limit", "rows", "remainder"),
    [
        (None, None, 9, ""),
        (None, 4, 4, "and 5 more"),
        (3, None, 3, "and 6 more"),
        (3, 4, 3, "and 6 more"),
        (4, 3, 3, "and 6 more"),
        (20, 30, 9, ""),
    ],
)
def test_limits_of_a_grid(
    max_rows: int | None, limit: int | None, rows: int, remainder: str
) -> None:
    grid = Grid(("n",), 9, lambda i: (str(i),), max_rows=max_rows)
    assert grid.rows(limit) == [(str(i),) for i in range(rows)]
    assert grid.remainder(limit) == remainder


def test_a_long_list_keeps_only_its_first_names() -> None:
    names = Names.of([f"n{i}" for i in range(1000)])
    assert names == Names(tuple(f"n{i}" for i in range(MAX_NAMES)), 1000)
    assert short(names) == "n0, n1, n2, n3, n4, n5, n6, n7 and 992 more"
    assert short(Names.of(["a" * 90, "b"])) == "a" * 20 + "…" + "a" * 19 + ", b"
    assert short(Names.of([])) == ""


def test_both_renderers_show_lines_and_remainders() -> None:
    line = Line("between {} and {}", ("<b>{0}</b>", Names.of(["x", "y"])))
    grid = Grid(("link",), 3, lambda i: (f"l{i}",), max_rows=1, left_out="and {} less busy")
    view = View("Title", body=(line, grid))
    assert [row.rstrip() for row in printed(view).splitlines()] == [
        "Title",
        "between <b>{0}</b> and x, y",
        "link",
        "l0",
        "and 2 less busy",
    ]
    html = notebook.render(view)
    assert "between <bdi>&lt;b&gt;{0}&lt;/b&gt;</bdi> and <bdi>x, y</bdi>" in html
    assert '<td colspan="1"><bdi>and 2 less busy</bdi></td>' in html


def test_a_score_with_its_placement_lists_operators() -> None:
    graph = sp.StreamGraph([(f"op{i}", 9e4, 100) for i in range(30)], source_rate=1e3)
    problem = sp.Problem(graph, "2x1500", source_rate=[1e3, 2e3], target_utilisation=0.8)
    placement = sp.Placement(problem, np.arange(30) % 2)
    score = sp.simulate(placement)
    assert "the worst of" not in printed(view_of(score))
    with_names = printed(score.view_with(placement))
    assert "op0, op2, op4, op6, op8, op10, op12, op14 and 7 more" in with_names
    assert "the worst of 2 rates (bottleneck, at most 0.8 of any device" in with_names
