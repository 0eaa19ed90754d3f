"""Tables and pictures of comparisons."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from streamplace.display.formats import latex, markdown
from streamplace.errors import UsageError
from streamplace.pictures.comparison import makespan_picture
from streamplace.workflows.comparison_folder import (
    csv_table,
    latex_table,
    makespan_table,
    markdown_table,
)
from streamplace.workflows.makespan_comparison import MakespanComparison
from tests.support.comparisons import (
    HARD_NAMES,
    comparison_by_hand,
    makespans_by_hand,
    random_comparison,
    random_makespans,
)

MARKDOWN = r"""relative throughput over 4 graphs under bottleneck, at 10000 tuples/s (in brackets at 20000); minus first: mean difference from metis

| placer | mean | Q1 | median | better than METIS | worse than METIS | minus first | 95% from | 95% to | min | above 0.97 | devices |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
| metis | 0.550 (0.275) | 0.350 (0.175) | 0.500 (0.250) | - (-) | - (-) | - (-) | - (-) | - (-) | 0.200 (0.100) | 0.250 (0.000) | 2.500 (5.000) |
| my\_placer | 0.575 (0.300) | 0.400 (0.200) | 0.450 (0.250) | 0.250 (0.250) | 0.250 (0.000) | 0.025 (0.025) | -0.075 (0.000) | 0.150 (0.075) | 0.400 (0.200) | 0.250 (0.000) | 3.000 (4.500) |
"""  # noqa: E501 - a line per placer


def test_markdown_by_hand() -> None:
    assert markdown_table(comparison_by_hand()) == MARKDOWN


def test_csv_has_a_column_per_figure_and_rate() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_table(comparison_by_hand()))))
    assert [row["placer"] for row in rows] == ["metis", "my_placer"]
    assert float(rows[0]["mean at 10000"]) == pytest.approx(0.55)
    assert float(rows[1]["Q1 at 20000"]) == pytest.approx(0.2)
    assert float(rows[1]["better than METIS at 10000"]) == 0.25
    assert rows[0]["better than METIS at 10000"] == ""


def test_latex_by_hand() -> None:
    lines = latex_table(comparison_by_hand()).splitlines()
    assert lines[1:3] == [r"\begin{tabular}{lrrrrrrrrrrr}", r"\toprule"]
    assert lines[5].startswith(r"metis & 0.550 (0.275) & 0.350 (0.175) & 0.500 (0.250) & -- (--)")
    assert lines[6].startswith(r"my\_placer & 0.575 (0.300)")
    assert lines[7:] == [r"\bottomrule", r"\end{tabular}"]


def test_no_brackets_for_one_rate_and_no_shares_without_metis() -> None:
    found = random_comparison(("a", "b"), (None,))
    assert "(" not in markdown_table(found)
    assert "at their own rates; minus first: mean difference from a\n" in markdown_table(found)
    assert " | - | - | " in markdown_table(found)
    three = random_comparison(("a",), (1.0, 2.0, 3.0))
    assert "(in brackets at 2, 3)" in markdown_table(three)


@pytest.mark.parametrize("name", HARD_NAMES)
def test_names_are_text_in_every_table(name: str) -> None:
    found = replace(random_comparison(("metis", name)), dataset=name)
    row = latex_table(found).splitlines()[6]
    assert row.endswith(r" \\")
    assert row.count(" & ") == 11
    cell = row.split(" & ")[0]
    for command in (r"\textbackslash{}", r"\textasciitilde{}", r"\textasciicircum{}"):
        cell = cell.replace(command, "")
    for command in (r"\textless{}", r"\textgreater{}", r"\textbar{}"):
        cell = cell.replace(command, "")
    for letter in "&%$#_{}":
        cell = cell.replace("\\" + letter, "")
    assert not set(cell) & set("\\&%$#_{}~^<>|\n")
    lines = markdown_table(found).splitlines()
    assert len(lines) == 6
    assert lines[5].replace(r"\|", "").count("|") == 13
    assert len(list(csv.reader(io.StringIO(csv_table(found))))) == 3


MAKESPANS_MARKDOWN = r"""makespan over 4 graphs (order fifo)

| placer | makespan, s | own order, s | SLR | median SLR | over heft | 95% interval | vs heft | gap | evaluations | ms |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
| heft | 3.5 | 3 | 1.750 | 2.000 | 1.000 | 1.000 to 1.000 | +0% -0% | 31.3% | - | 500.00 |
| my\_placer | 3.751 | - | 1.750 | 1.500 | 1.000 | 0.625 to 1.375 | +25% -25% | 25.1% | 25 | 500.00 |
"""  # noqa: E501 - a line per placer


def test_makespans_as_markdown_by_hand() -> None:
    assert markdown(*makespan_table(makespans_by_hand())) == MAKESPANS_MARKDOWN


def test_makespans_as_latex_by_hand() -> None:
    lines = latex(*makespan_table(makespans_by_hand())).splitlines()
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


def tables(*found: MakespanComparison) -> list[list[str]]:
    return [markdown(*makespan_table(one)).splitlines() for one in found]


@pytest.mark.long
@pytest.mark.parametrize("first", ["heft", "a"])
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_pictures_have_hard_names_and_the_same_bytes(first: str, kind: str, tmp_path: Path) -> None:
    found = random_makespans((first, *HARD_NAMES), graphs=400, spread=20.0)
    for name in ("x", "y"):
        makespan_picture(tmp_path / f"{name}.{kind}", found)
    data = (tmp_path / f"x.{kind}").read_bytes()
    assert data == (tmp_path / f"y.{kind}").read_bytes()
    if kind == "svg":
        what = b"HEFT's mapping" if first == "heft" else b"schedule length ratio"
        assert what in data


def test_heft_alone_and_graphs_without_work_can_be_drawn(tmp_path: Path) -> None:
    makespan_picture(tmp_path / "alone.svg", random_makespans(("heft",), graphs=1))
    makespan_picture(tmp_path / "hand.svg", makespans_by_hand())
    assert b"schedule length ratio" in (tmp_path / "alone.svg").read_bytes()


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown picture format"):
        makespan_picture(tmp_path / "x.gif", makespans_by_hand())
