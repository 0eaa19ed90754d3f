"""Tables and pictures of comparisons."""

from pathlib import Path

import pytest

from streamplace.errors import UsageError
from streamplace.pictures.comparison import ratios_picture
from tests.support.comparisons import (
    HARD_NAMES,
    makespans_by_hand,
    random_makespans,
)

MAKESPANS_MARKDOWN = r"""
| placer | SLR | over heft | 95% interval |
|---|---:|---:|---:|
| heft | **1.750** | **1.000** | 1.000 to 1.000 |
| my\_placer | **1.750** | **1.000** | 0.625 to 1.375 |
"""


def test_makespans_as_markdown_by_hand() -> None:
    table = makespans_by_hand().paper_table()
    assert table.markdown().split("\n", 1)[1] == MAKESPANS_MARKDOWN
    assert table.caption.startswith(
        "Makespan over 4 graphs (order fifo); made. Over heft: mean ratio over the graphs. "
    )


def test_the_shortest_makespan_and_the_smallest_gap_are_the_best() -> None:
    found = makespans_by_hand().of_columns(["mean", "median-slr", "gap", "ms", "vs-heft"])
    assert found.paper_table().bold == {(0, 1), (1, 2), (1, 3), (0, 4), (1, 4)}
    assert found.cells(1) == ("my_placer", "3.751", "1.500", "25.1%", "500.00", "+25% -25%")


def test_without_heft_ratios_are_to_the_first_placer() -> None:
    found = random_makespans(("a", "b"))
    assert list(found.columns) == [
        *("placer", "mean", "slr", "median-slr", "ratio", "interval", "gap", "evaluations", "ms"),
    ]
    assert found.columns["ratio"].heading == "over a"
    assert not {"ratio", "interval"} & {*random_makespans(("a",)).columns}
    over = found.ratio("b", "a")
    row = found.rows[1]
    assert (row.over_first, row.over_first_low) == pytest.approx((over.mean, over.low))
    cells = [found.columns[name].cell(row) for name in ("ratio", "interval")]
    assert cells == [f"{over.mean:.3f}", f"{over.low:.3f} to {over.high:.3f}"]
    assert row.over_heft_low is None


@pytest.mark.long
@pytest.mark.parametrize("first", ["heft", "a"])
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_pictures_have_hard_names_and_the_same_bytes(first: str, kind: str, tmp_path: Path) -> None:
    found = random_makespans((first, *HARD_NAMES), graphs=400, spread=20.0)
    for name in ("x", "y"):
        ratios_picture(tmp_path / f"{name}.{kind}", found)
    data = (tmp_path / f"x.{kind}").read_bytes()
    assert data == (tmp_path / f"y.{kind}").read_bytes()
    if kind == "svg":
        what = b"HEFT's mapping" if first == "heft" else b"schedule length ratio"
        assert what in data


def test_heft_alone_and_graphs_without_work_can_be_drawn(tmp_path: Path) -> None:
    ratios_picture(tmp_path / "alone.svg", random_makespans(("heft",), graphs=1))
    ratios_picture(tmp_path / "hand.svg", makespans_by_hand())
    assert b"schedule length ratio" in (tmp_path / "alone.svg").read_bytes()


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown picture format"):
        ratios_picture(tmp_path / "x.gif", makespans_by_hand())
