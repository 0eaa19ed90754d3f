"""Twenty problems, each edited ten times: page and Python agree after every edit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamplace import ThroughputScore, read_placement, simulate
from tests.browser.conftest import Report, Reports
from tests.browser.jobs import Edited, drawn

EXACT = 1e-6
EDITS = ("drag", "slider", "arrows", "mips", "drag", "list", "rate", "bandwidth", "drag", "mouse")


def agrees(told: dict[str, Any], score: ThroughputScore) -> None:
    """Assert that a page's score is Python's."""
    assert told["throughput"] == pytest.approx(score.throughput, rel=EXACT)
    assert told["relative_throughput"] == pytest.approx(score.relative_throughput, rel=EXACT)
    assert told["source_rate"] == pytest.approx(score.source_rate, rel=EXACT)
    assert dict(told["devices"]) == pytest.approx(
        {load.name: load.utilisation for load in score.devices}, rel=EXACT, abs=1e-12
    )
    links = {(load.source, load.target): load.utilisation for load in score.links}
    shown = {(source, target): value for source, target, value in told["links"]}
    assert shown == pytest.approx(links, rel=EXACT, abs=1e-12)
    assert told["devices_used"] == score.devices_used
    top = told["bottleneck"]
    assert top["utilisation"] == pytest.approx(score.bottleneck.utilisation, rel=EXACT)
    assert top["name"] in near(score)
    if len(near(score)) == 1:
        assert (top["kind"], top["name"]) == (score.bottleneck.kind, score.bottleneck.name)


def near(score: ThroughputScore) -> list[str]:
    """Return what the rounding of sums could make the bottleneck."""
    most = score.bottleneck.utilisation * (1 - 1e-12)
    devices = [load.name for load in score.devices if load.utilisation >= most]
    return devices + [load.name for load in score.links if load.utilisation >= most]


def bars_agree(report: Report, score: ThroughputScore) -> None:
    """Assert that bars and the large figure are those of the score."""
    bars = report.page.locator("#devices [role=meter]")
    shown = bars.evaluate_all("all => all.map(bar => Number(bar.getAttribute('aria-valuenow')))")
    wanted = [100 * load.utilisation for load in score.devices]
    assert shown == pytest.approx(wanted, rel=1e-5, abs=1e-12)
    rows = report.page.locator("#links [role=meter]")
    assert rows.count() == len(score.links)
    figure = report.page.inner_text("#figures .main strong").removesuffix(" tuples/s")
    assert float(figure.replace(",", "")) == pytest.approx(score.throughput, rel=1e-3)


def edit(report: Report, job: Edited, kind: str, rng: np.random.Generator) -> None:
    """Edit a page by one of the ways there are, and what it ought to show alike."""
    page, devices = report.page, len(job.mips)
    v, d = int(rng.integers(len(job.assignment))), int(rng.integers(devices))
    if kind == "drag":
        report.drag(v, d)
        job.assignment[v] = d
    elif kind == "list":  # the operators below the graph, each with a select
        name = job.start.problem.graph.names[v]
        row = page.locator("#operators tr", has=page.get_by_role("button", name=name, exact=True))
        select = row.locator("select")
        before = job.assignment[v]
        key = "ArrowDown" if before + 1 < devices else "ArrowUp"
        report.press(select, key)
        job.assignment[v] = before + (1 if key == "ArrowDown" else -1)
    elif kind == "arrows":  # in the graph: an operator on, and to the next device
        report.press("#graph", "ArrowRight")
        chosen = page.evaluate("streamplace.chosen()")["number"]
        key = "ArrowDown" if job.assignment[chosen] + 1 < devices else "ArrowUp"
        report.press("#graph", key)
        job.assignment[chosen] += 1 if key == "ArrowDown" else -1
    elif kind == "slider":
        report.press("#slider", *["PageUp", "ArrowRight", "ArrowRight"][: int(rng.integers(1, 4))])
        job.rate = report.score()["source_rate"]
        assert job.rate > job.start.problem.source_rate
    elif kind == "mouse":
        box = page.locator("#slider").bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2)
        job.rate = report.score()["source_rate"]
        assert job.rate < job.start.problem.source_rate
    elif kind == "rate":
        job.rate = float(rng.integers(1000, 50_000))
        report.type("#rate", repr(job.rate))
    elif kind == "mips":
        job.mips[d] = float(rng.integers(500, 9000)) + 0.5
        report.type(page.locator("#devices input").nth(d), repr(job.mips[d]))
    elif kind == "bandwidth":
        job.bandwidth = None if rng.random() < 0.3 else float(rng.integers(20, 2000))
        report.type("#bandwidth", "" if job.bandwidth is None else repr(job.bandwidth))


@pytest.mark.parametrize("seed", range(20))
def test_page_and_python_agree(seed: int, reports: Reports, tmp_path: Path) -> None:
    placement, rng = drawn(seed), np.random.default_rng(seed)
    report, job = reports(placement), Edited.of(placement)
    report.page.locator("#graph").scroll_into_view_if_needed()
    agrees(report.score(), simulate(placement))
    for kind in EDITS:
        edit(report, job, kind, rng)
        told, score = report.score(), simulate(job.placement())
        assert told["assignment"] == job.assignment
        agrees(told, score)
        bars_agree(report, score)
    saved = read_placement(report.download(tmp_path / "edited.json"))
    assert saved.problem.graph == placement.problem.graph
    assert saved.problem.constraints == placement.problem.constraints
    assert saved.devices.tolist() == job.assignment
    agrees(report.score(), simulate(saved))
    while report.page.is_enabled("#undo"):
        report.page.keyboard.press("Control+z")
    agrees(report.score(), simulate(placement))
    assert not report.score()["edited"]
