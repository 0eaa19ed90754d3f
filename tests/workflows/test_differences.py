"""Tables of relative throughput."""

import re
from dataclasses import replace

import pytest

from streamplace.problem.objective import Throughput
from streamplace.workflows.differences import RelativeThroughput
from tests.support.comparisons import (
    HARD_NAMES,
    comparison_by_hand,
    makespans_by_hand,
    random_comparison,
)

MARKDOWN = r"""
| placer | rate | mean | difference to metis | 95% interval |
|---|---:|---:|---:|---:|
| metis | 10000 | 0.550 | - | - |
| my\_placer | 10000 | **0.575** | +0.025 | -0.075 to +0.150 |
| metis | 20000 | 0.275 | - | - |
| my\_placer | 20000 | **0.300** | +0.025 | +0.000 to +0.075 |
"""


def test_markdown_by_hand() -> None:
    caption, table = comparison_by_hand().paper_table().markdown().split("\n", 1)
    assert table == MARKDOWN
    assert caption.startswith(
        "Relative throughput over 4 graphs (bottleneck model); made; 10,000 and 20,000 tuples/s. "
        "Difference to metis: mean over the graphs. 95% interval: of the mean difference, by a "
        "paired bootstrap over the graphs. Bold: the best of a column at each rate. Seed 0, "
    )


def test_latex_by_hand() -> None:
    lines = comparison_by_hand().paper_table().latex().splitlines()
    (label,) = [line for line in lines if line.startswith(r"\label")]
    assert re.fullmatch(r"\\label\{tab:compare-made-[0-9a-f]{8}\}", label)
    begin = lines.index(r"\toprule")
    assert lines[begin - 1] == r"\begin{tabular}{@{}lrrrr@{}}"
    assert lines[begin + 3 : begin + 6] == [
        r"metis & 10000 & 0.550 & -- & -- \\",
        r"my\_placer & 10000 & \textbf{0.575} & +0.025 & $-$0.075 to +0.150 \\",
        r"\midrule",
    ]


def test_tables_that_compare_something_else_have_other_labels() -> None:
    found, objective = comparison_by_hand(), Throughput(target_utilisation=0.7)
    others = [
        found,
        makespans_by_hand(),
        makespans_by_hand("other"),
        found.of_placers(["metis"]),
        found.of_columns(["mean", "ms"]),
        replace(found, measure=RelativeThroughput(objective)),
        replace(found, source_rates=(1e4, 3e4)),
        replace(found, dataset="others.jsonl"),
        replace(found, seed=1),
    ]
    labels = [each.paper_table().label for each in others]
    assert len({*labels}) == len(labels)
    again = replace(found, figures=found.figures._replace(values=found.values / 2))
    assert again.paper_table().label == labels[0]


def test_ties_are_all_the_best_and_differences_are_not_ordered_twice() -> None:
    found = comparison_by_hand().of_columns(["median", "min", "above-0.97", "difference"])
    assert found.paper_table().bold == {
        *((0, 2), (1, 3), (0, 4), (1, 4)),  # at the first rate; as many keep up
        *((2, 2), (3, 2), (3, 3), (2, 4), (3, 4)),
    }


def test_cpu_time_is_shown_if_asked_for() -> None:
    assert "cpu-ms" not in comparison_by_hand().columns
    table = comparison_by_hand().of_columns(["ms", "cpu-ms"]).paper_table()
    assert (table.head[2:], table.rows[0][2:]) == (["ms", "CPU ms"], ("1000.00", "2000.00"))


def test_the_caption_says_of_what_an_interval_is() -> None:
    caption = comparison_by_hand().of_columns(["interval"]).paper_table().caption
    assert "Difference to metis: mean over the graphs. 95% interval: of the mean" in caption


def test_one_placer_has_no_difference_and_is_not_the_best() -> None:
    found = random_comparison(("a",), (None,))
    table = found.paper_table()
    assert (list(table.head), list(table.bold)) == (["placer", "mean"], [])
    assert "Bold" not in table.caption


def test_a_long_name_in_a_heading_is_whole_in_the_note() -> None:
    name = "policy:file=/runs/of/last/week/policy.safetensors"
    column = random_comparison((name, "b")).columns["difference"]
    assert column.heading == "difference to policy:file=…safetensors"
    assert column.meaning.endswith(f"; the whole name is {name}")


def test_shares_stand_in_tables_with_metis_only() -> None:
    assert "vs-metis" in comparison_by_hand().columns
    assert "vs-metis" not in random_comparison(("a", "b")).columns


@pytest.mark.parametrize("name", HARD_NAMES)
def test_names_are_text_in_every_table(name: str) -> None:
    found = replace(random_comparison(("metis", name)), dataset=name)
    lines = found.paper_table().latex().splitlines()
    row = lines[lines.index(r"\midrule") + 2]
    assert row.endswith(r" \\")
    assert row.count(" & ") == 3
    cell = row.split(" & ")[0]
    for command in (r"\textbackslash{}", r"\textasciitilde{}", r"\textasciicircum{}"):
        cell = cell.replace(command, "")
    for command in (r"\textless{}", r"\textgreater{}", r"\textbar{}"):
        cell = cell.replace(command, "")
    cell = cell.replace("{[}", "[")
    for letter in "&%$#_{}":
        cell = cell.replace("\\" + letter, "")
    assert not set(cell) & set("\\&%$#_{}~^<>|\n")
    lines = found.paper_table().markdown().splitlines()
    assert len(lines) == 6
    assert lines[5].replace(r"\|", "").count("|") == 5
