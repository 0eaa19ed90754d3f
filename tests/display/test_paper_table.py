"""Tables for papers."""

import re
import shutil
import subprocess
from math import nan
from pathlib import Path

import pytest

from streamplace.display.paper_table import COLUMN_PT, PaperTable, best_places
from streamplace.workflows.comparison import Comparison
from tests.support.comparisons import (
    comparison_by_hand,
    makespans_by_hand,
    random_comparison,
    random_makespans,
)

HARD = PaperTable(
    *("a", "50% & more_of -1", ["[x]", "a_b"]),
    [("[y]", "-0.5"), ("*", "1e-05"), ("`a--b`", "$3 & -")],
)
USUAL = ("metis", "metis-recursive-oracle", "greedy", "search:evaluations=20000")


def test_what_latex_would_read_as_commands_is_escaped() -> None:
    text = HARD.latex()
    assert r"\caption{50\% \& more\_of $-$1.}" in text
    assert r"{[}x] & a\_b \\" in text
    assert r"{[}y] & $-$0.5 \\" in text, "an option of the line before"
    assert r"{*} & 1e-05 \\" in text
    assert r"\textasciigrave{}a-{}-b\textasciigrave{} & \$3 \& - \\" in text
    assert r"| \`a--b\` | \$3 \& - |" in HARD.markdown()


def test_a_heading_wider_than_its_cells_has_two_lines() -> None:
    table = PaperTable("a", "", ["name", "difference to metis", "word"], [("x", "1", "2")])
    assert r"name & \shortstack[r]{difference\\to metis} & word \\" in table.latex()
    assert "| name | difference to metis | word |" in table.markdown()


def test_the_best_reads_like_the_best() -> None:
    cells = [((0, 0), 0.5001, "0.500"), ((1, 0), 0.5, "0.500"), ((2, 0), 0.4, "0.400")]
    assert best_places(cells, max) == {(0, 0), (1, 0)}
    assert best_places(cells, min) == {(2, 0)}
    assert best_places([((3, 0), nan, "nan"), *cells], max) == {(0, 0), (1, 0)}
    assert best_places(cells[:1], min) == best_places([((0, 0), None, "-")], max) == set()


@pytest.mark.parametrize(
    "found",
    [comparison_by_hand(), random_comparison(USUAL), makespans_by_hand(), random_makespans(USUAL)],
    ids=["two rates", "usual names", "makespans", "makespans without heft"],
)
def test_the_default_columns_fit_into_a_column_of_a_paper(found: Comparison) -> None:
    """Lines have fewer letters than a column of 240 points, where a letter has 4 on average."""
    text = found.paper_table().latex()
    assert r"\begin{table}" in text
    rows = re.findall(r"^(.+) \\\\$", text, re.MULTILINE)
    plain = [re.sub(r"\\textbf|[{}$\\]", "", row).split(" & ") for row in rows[1:]]
    letters = sum(max(map(len, column)) for column in zip(*plain, strict=True))
    assert 4 * letters + 6 * len(plain[0]) <= COLUMN_PT
    wide = found.of_columns(name for name in found.columns if name != "start")
    assert r"\begin{table*}" in wide.paper_table().latex()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX is installed")
@pytest.mark.parametrize(
    "table",
    [HARD, *(one.paper_table() for one in (comparison_by_hand(), random_makespans(USUAL)))],
)
def test_latex_sets_the_table_within_a_column(table: PaperTable, tmp_path: Path) -> None:
    text = table.latex()
    body = re.search(r"\\begin\{tabular\}.*\\end\{tabular\}", text, re.DOTALL)
    assert body is not None
    measured = rf"\setbox0\hbox{{\footnotesize\setlength{{\tabcolsep}}{{3pt}}{body[0]}}}"
    begin, end = r"\documentclass[twocolumn]{article}\usepackage{booktabs}", r"\end{document}"
    page = [begin, r"\begin{document}", measured, r"\typeout{width=\the\wd0}", text, end]
    (tmp_path / "page.tex").write_text("\n".join(page))
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    width = re.search(r"width=([\d.]+)pt", run.stdout)
    assert width is not None
    assert float(width[1]) <= COLUMN_PT
