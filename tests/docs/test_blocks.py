"""The blocks of code in the README and the docs, run page by page."""

from pathlib import Path

import numpy as np
import pytest

import streamplace as sp
from streamplace.placers.registry import make_placer
from streamplace.scoring.registry import CLOSED_FORMS
from tests.docs.blocks import OWN_PACKAGE, blocks, run_page
from tests.docs.refresh import refresh
from tests.support.paths import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LONG = (
    "comparing.md",
    "confidence.md",
    "constraints.md",
    "doppler.md",
    "explain.md",
    "giph.md",
    "kubernetes.md",
    "latency.md",
    "neural-networks.md",
    "own-policy.md",
    "paper.md",
    "placeto.md",
    "python.md",
    "scenarios.md",
    "size.md",
    "training.md",
)
SOME_LONG = [
    pytest.param(p, marks=pytest.mark.long if p.name in LONG else ())
    for p in PAGES
    if p.name != OWN_PACKAGE
]


@pytest.fixture(scope="module", autouse=True)
def _compiled_kernels() -> None:
    """Compile the kernels of `auto`, whose time limit on a page would end while they compile."""
    graph = sp.Recipe("dream", 1, range(12, 13), 0).graph(0)
    for model in CLOSED_FORMS:
        problem = sp.Problem(graph, "3x2500", source_rate=1e4, model=model)
        make_placer("auto:evaluations=300")(problem, np.random.default_rng(0))


@pytest.mark.parametrize("path", SOME_LONG, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_block_runs_and_prints_the_shown_output(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # if set, wide tables omit columns
    run_page(path.read_text(), tmp_path)


def test_a_wrong_page_fails(tmp_path: Path) -> None:
    for text in ("```python\n1 / 0\n```", "```sh\nfalse\n```", "```\nx\n```", "    x\n"):
        with pytest.raises((AssertionError, ZeroDivisionError)):
            run_page(text, tmp_path)
    with pytest.raises(NameError):
        run_page('```python title="own.py"\nx = 1\n```\n\n```python\nx\n```\n', tmp_path)
    with pytest.raises(AssertionError, match="the output is 2"):
        run_page("```python\nprint(2)\n```\n\n```text\n1\n```\n", tmp_path)


def test_times_may_vary_where_the_page_says_so(tmp_path: Path) -> None:
    command = "```sh\necho 'placed by metis in 0.2 s, gap 1%'\n```\n\n"
    text = "```text\nplaced by metis in 0.00314 s, gap 1%\n```\n"
    run_page(f"{command}<!-- times vary -->\n{text}", tmp_path)
    with pytest.raises(AssertionError, match="the output is"):
        run_page(command + text, tmp_path)
    with pytest.raises(AssertionError, match="the output is"):
        run_page(
            f"{command}<!-- times vary -->\n{text}".replace("1%\n```\n", "2%\n```\n"), tmp_path
        )


def test_outputs_are_refreshed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\necho 1; echo 2\n```\n\n```text\nold\n```\nend\n")
    refresh(page)
    assert page.read_text() == "```sh\necho 1; echo 2\n```\n\n```text\n1\n2\n```\nend\n"


def test_outputs_that_are_not_run_are_kept(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    text = "```sh\necho 1\n```\n\n<!-- not run: of another machine -->\n```text\n2\n```\n"
    page.write_text(text)
    refresh(page)
    assert page.read_text() == text


def test_blocks_that_are_not_run_say_why() -> None:
    (block,) = blocks("<!-- not run: it takes hours -->\n```sh\nexit 1\n```\n")
    assert block.not_run == "it takes hours"
    for path in PAGES:
        assert all(len(b.not_run) > 5 for b in blocks(path.read_text()) if b.not_run)
