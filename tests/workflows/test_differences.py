"""Tables of relative throughput with the source rates side by side."""

import csv
import io
from dataclasses import replace

import pytest

from streamplace.workflows.comparison import Comparison
from tests.support.comparisons import HARD_NAMES, comparison_by_hand, random_comparison


def table(found: Comparison, kind: str) -> str:
    """Return the text of a table in the folder of a comparison."""
    return found.measure.table(found, kind)


MARKDOWN = r"""relative throughput over 4 graphs under bottleneck, at 10000 tuples/s (in brackets at 20000); minus first: mean difference from metis

| placer | mean | Q1 | median | better than METIS | worse than METIS | minus first | 95% from | 95% to | min | above 0.97 | devices |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
| metis | 0.550 (0.275) | 0.350 (0.175) | 0.500 (0.250) | - (-) | - (-) | - (-) | - (-) | - (-) | 0.200 (0.100) | 0.250 (0.000) | 2.500 (5.000) |
| my\_placer | 0.575 (0.300) | 0.400 (0.200) | 0.450 (0.250) | 0.250 (0.250) | 0.250 (0.000) | 0.025 (0.025) | -0.075 (0.000) | 0.150 (0.075) | 0.400 (0.200) | 0.250 (0.000) | 3.000 (4.500) |
"""  # noqa: E501 - a line per placer


def test_markdown_by_hand() -> None:
    assert table(comparison_by_hand(), "md") == MARKDOWN


def test_csv_has_a_column_per_figure_and_rate() -> None:
    rows = list(csv.DictReader(io.StringIO(table(comparison_by_hand(), "csv"))))
    assert [row["placer"] for row in rows] == ["metis", "my_placer"]
    assert float(rows[0]["mean at 10000"]) == pytest.approx(0.55)
    assert float(rows[1]["Q1 at 20000"]) == pytest.approx(0.2)
    assert float(rows[1]["better than METIS at 10000"]) == 0.25
    assert rows[0]["better than METIS at 10000"] == ""


def test_latex_by_hand() -> None:
    lines = table(comparison_by_hand(), "tex").splitlines()
    assert lines[1:3] == [r"\begin{tabular}{lrrrrrrrrrrr}", r"\toprule"]
    assert lines[5].startswith(r"metis & 0.550 (0.275) & 0.350 (0.175) & 0.500 (0.250) & -- (--)")
    assert lines[6].startswith(r"my\_placer & 0.575 (0.300)")
    assert lines[7:] == [r"\bottomrule", r"\end{tabular}"]


def test_no_brackets_for_one_rate_and_no_shares_without_metis() -> None:
    found = random_comparison(("a", "b"), (None,))
    assert "(" not in table(found, "md")
    assert "at their own rates; minus first: mean difference from a\n" in table(found, "md")
    assert " | - | - | " in table(found, "md")
    three = random_comparison(("a",), (1.0, 2.0, 3.0))
    assert "(in brackets at 2, 3)" in table(three, "md")


@pytest.mark.parametrize("name", HARD_NAMES)
def test_names_are_text_in_every_table(name: str) -> None:
    found = replace(random_comparison(("metis", name)), dataset=name)
    row = table(found, "tex").splitlines()[6]
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
    lines = table(found, "md").splitlines()
    assert len(lines) == 6
    assert lines[5].replace(r"\|", "").count("|") == 13
    assert len(list(csv.reader(io.StringIO(table(found, "csv"))))) == 3
