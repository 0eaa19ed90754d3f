"""Tests for tables of studies."""

from dataclasses import replace

from streamplace.papers.studies.table import Cell, Table

TABLE = Table(
    "t",
    "throughput",
    ("system", "mean", "graphs", "difference"),
    [
        ("first_one", [(0.5, 0.25), 3, ("+0.1", "-0.1")]),
        ("published", [(0.75,), None, None]),
    ],
    variants=("1e4/s", "2e4/s"),
)


def test_csv_has_a_column_for_each_variant_and_all_digits() -> None:
    assert TABLE.csv().splitlines() == [
        'system,"mean, 1e4/s","mean, 2e4/s",graphs,"difference, 1e4/s","difference, 2e4/s"',
        "first_one,0.5,0.25,3,+0.1,-0.1",
        "published,0.75,,,,",
    ]


def test_markdown_shows_further_variants_in_brackets() -> None:
    lines = TABLE.markdown().splitlines()
    assert lines[0] == "Throughput (1e4/s; in brackets: 2e4/s)"
    assert lines[-2:] == [
        r"| first\_one | 0.500 (0.250) | 3 | +0.1 (-0.1) |",
        "| published | 0.750 | - | - |",
    ]


def test_latex_escapes_names() -> None:
    assert r"first\_one & 0.500 (0.250) & 3 & +0.1 ($-$0.1) \\" in TABLE.latex()


def test_the_best_are_bold_whether_systems_are_rows_or_columns() -> None:
    by_column = replace(TABLE, best={"mean": max, "graphs": min})
    assert "| 0.500 (0.250) | 3 |" in by_column.markdown(), "a single value is not the best"
    assert "| **0.750** | - | - |" in by_column.markdown()
    lines = by_column.latex("some study", "Plan: seed 0").splitlines()
    assert r"\label{tab:some-study-t}" in lines
    assert "Bold: the best of a column (1e4/s). Plan: seed 0.}" in lines[5]
    rows: list[tuple[str, list[Cell]]] = [("p", [0.5, 0.25, 0.25]), ("q", [None, 0.5, 0.75])]
    by_row = Table("t", "makespan", ("problem", "a", "b", "c"), rows, best_in_row=min)
    assert by_row.markdown().splitlines()[-2:] == [
        "| p | 0.500 | **0.250** | **0.250** |",
        "| q | - | **0.500** | 0.750 |",
    ]


def test_cells_whose_first_values_read_alike_are_all_the_best() -> None:
    rows: list[tuple[str, list[Cell]]] = [("a", [(1.0, 0.5)]), ("b", [(0.99999, 0.6)])]
    table = Table("t", "share", ("system", "mean"), rows, ("low", "high"), {"mean": max})
    assert table.markdown().splitlines()[-2:] == [
        "| a | **1.000 (0.500)** |",
        "| b | **1.000 (0.600)** |",
    ]


def test_columns_with_words_are_left_aligned_and_may_be_cut() -> None:
    head = ("row", "claim", "ratio", "CPU time")
    rows: list[tuple[str, list[Cell]]] = [
        ("a", ["faster than b", 1.5, "2 min"]),
        ("b", [None, (0.5, "x"), None]),
    ]
    assert Table("t", "", head, rows).grid().names == (0, 1)
    assert Table("t", "", ("row",), []).grid().names == (0,)


def test_a_terminal_shows_the_same_texts() -> None:
    assert TABLE.grid().rows() == [
        ("first_one", "0.500 (0.250)", "3", "+0.1 (-0.1)"),
        ("published", "0.750", "-", "-"),
    ]
