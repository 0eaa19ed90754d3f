"""Tests that the report page and Python compute the same scores after random edits."""

from pathlib import Path

import numpy as np
import pytest

from streamplace import read_placement, simulate
from streamplace.scoring.score import ThroughputScore
from tests.support.page_edits import EditedPlacement, check_page_score, edit_page, random_placement
from tests.support.reports import Report, Reports

EDITS = ("drag", "slider", "arrows", "mips", "drag", "list", "rate", "bandwidth", "drag", "mouse")


def bars_agree(report: Report, score: ThroughputScore) -> None:
    """Check that the bars and the throughput figure show the score."""
    bars = report.page.locator("#devices [role=meter]")
    shown = bars.evaluate_all("all => all.map(bar => Number(bar.getAttribute('aria-valuenow')))")
    expected = [100 * load.utilisation for load in score.devices]
    assert shown == pytest.approx(expected, rel=1e-5, abs=1e-12)
    rows = report.page.locator("#links [role=meter]")
    assert rows.count() == len(score.links) + len(score.uplinks)
    figure = report.page.inner_text("#figures .main strong").removesuffix(" tuples/s")
    assert float(figure.replace(",", "")) == pytest.approx(score.throughput, rel=1e-3)


def test_some_random_placements_have_uplinks() -> None:
    loaded = [simulate(random_placement(seed)) for seed in range(20)]
    assert sum(bool(score.uplinks) for score in loaded) >= 4
    assert any(score.bottleneck.kind == "uplink" for score in loaded)


@pytest.mark.parametrize("seed", range(20))
def test_page_and_python_agree(seed: int, reports: Reports, tmp_path: Path) -> None:
    placement, rng = random_placement(seed), np.random.default_rng(seed)
    report, edited = reports(placement), EditedPlacement.of(placement)
    report.page.locator("#graph").scroll_into_view_if_needed()
    check_page_score(report.score(), simulate(placement))
    for kind in EDITS:
        edit_page(report, edited, kind, rng)
        shown, score = report.score(), simulate(edited.placement())
        assert shown["assignment"] == edited.assignment
        check_page_score(shown, score)
        bars_agree(report, score)
    saved = read_placement(report.download(tmp_path / "edited.json"))
    assert saved.problem.graph == placement.problem.graph
    assert saved.problem.constraints == placement.problem.constraints
    assert saved.devices.tolist() == edited.assignment
    check_page_score(report.score(), simulate(saved))
    while report.page.is_enabled("#undo"):
        report.page.keyboard.press("Control+z")
    check_page_score(report.score(), simulate(placement))
    assert not report.score()["edited"]
