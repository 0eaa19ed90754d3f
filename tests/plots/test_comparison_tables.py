"""Tests for tables of a comparison: figures computed by hand, escaped names."""

import csv
import io
from dataclasses import replace

import pytest

from streamplace.plots.comparison_folder import csv_table, latex_table, markdown_table
from tests.support.comparisons import HARD_NAMES, comparison_by_hand, random_comparison

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
