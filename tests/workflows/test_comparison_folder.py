"""Tables and pictures of comparisons."""

from pathlib import Path

import pytest

from streamplace.errors import UsageError
from streamplace.pictures.comparison import ratios_picture
from streamplace.workflows.comparison import Comparison
from tests.support.comparisons import (
    HARD_NAMES,
    makespans_by_hand,
    random_makespans,
)


def table(found: Comparison, kind: str) -> str:
    """Return the text of a table in the folder of a comparison."""
    return found.measure.table(found, kind)


MAKESPANS_MARKDOWN = r"""makespan over 4 graphs (order fifo)

| placer | makespan, s | own order, s | SLR | median SLR | over heft | 95% interval | vs heft | gap | evaluations | ms |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
| heft | 3.5 | 3 | 1.750 | 2.000 | 1.000 | 1.000 to 1.000 | +0% -0% | 31.3% | - | 500.00 |
| my\_placer | 3.751 | - | 1.750 | 1.500 | 1.000 | 0.625 to 1.375 | +25% -25% | 25.1% | 25 | 500.00 |
"""  # noqa: E501 - a line per placer


def test_makespans_as_markdown_by_hand() -> None:
    assert table(makespans_by_hand(), "md") == MAKESPANS_MARKDOWN


def test_makespans_as_latex_by_hand() -> None:
    lines = table(makespans_by_hand(), "tex").splitlines()
    assert lines[1] == r"\begin{tabular}{lrrrrrrrrrr}"
    assert lines[3].startswith(
        r"placer & makespan, s & own order, s & SLR & median SLR & over heft"
    )
    assert lines[5].endswith(r"1.000 to 1.000 & +0\% $-$0\% & 31.3\% & -- & 500.00 \\")
    assert lines[6].startswith(r"my\_placer & ")


def test_without_heft_ratios_are_to_the_first_placer() -> None:
    found = random_makespans(("a", "b"))
    heads = {lines[2] for lines in tables(found, random_makespans(("a",)))}
    start, end = "| placer | makespan, s | SLR | median SLR |", " gap | evaluations | ms |"
    assert heads == {f"{start} over first | 95% interval |{end}", start + end}
    over = found.ratio("b", "a")
    row = found.rows[1]
    assert (row.over_first, row.over_first_low) == pytest.approx((over.mean, over.low))
    assert f"| {over.mean:.3f} | {over.low:.3f} to {over.high:.3f} |" in tables(found)[0][5]
    assert row.over_heft_low is None


def tables(*found: Comparison) -> list[list[str]]:
    return [table(one, "md").splitlines() for one in found]


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
