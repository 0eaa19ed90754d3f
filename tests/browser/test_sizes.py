"""The report page in windows of several sizes, with few and many operators and devices."""

from pathlib import Path

import numpy as np
import pytest

from streamplace import (
    Cluster,
    Device,
    Operator,
    Placement,
    Problem,
    StreamGraph,
    simulate,
)
from tests.support.page_edits import EditedPlacement, check_page_score, preset_placement
from tests.support.reports import Reports


def test_lanes_fill_the_height_of_the_drawing(reports: Reports) -> None:
    """Names of 30 operators in three lanes have 11 pixels, and the lanes fill the height."""
    report = reports(preset_placement(operators=30, cluster=Cluster.equal(3)))
    report.page.set_viewport_size({"width": 1280, "height": 900})
    box = report.page.locator("#graph").bounding_box()
    assert box is not None
    middles = [report.where_is("device", d)[1] for d in (0, 2)]
    assert middles[1] - middles[0] > box["height"] / 2
    assert report.page.evaluate("streamplace.whereIs('operator', 0)")["text"] >= 11


CUT_OFF_TEXTS = """all => all
    .filter(one => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1)
    .map(one => one.textContent)"""


@pytest.mark.parametrize("width", [320, 360, 480, 600, 601, 1020])
def test_figures_are_not_cut_in_a_narrow_window(width: int, reports: Reports) -> None:
    """The throughput is never cut off, and in windows up to 600 pixels wide no figure is."""
    pool = Cluster([Device(f"gke-production-eu-west4-pool-{d}", 2500.0) for d in range(5)])
    placement = preset_placement(cluster=pool, source_rate=1234567.0, target_utilisation=0.9)
    report = reports(placement, preset_placement())
    page = report.page
    page.set_viewport_size({"width": width, "height": 800})
    report.type("#rate", "1234567890123.5")  # the longest note: an edit changes the throughput
    where = "#figures" if width <= 600 else "#figures .main"
    assert page.locator(f"{where} strong, {where} .more").evaluate_all(CUT_OFF_TEXTS) == []
    assert page.locator("#figures .main").evaluate(
        "one => one.getBoundingClientRect().right <= innerWidth"
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "sideways scrolling"
    picture, legend = (page.locator(where).bounding_box() for where in ("#picture", "#legend"))
    assert picture is not None
    assert legend is not None
    assert legend["y"] + legend["height"] <= picture["y"] + picture["height"]


@pytest.mark.parametrize("kind", ["pair", "nic"])
def test_a_placement_too_large_to_draw(kind: str, reports: Reports) -> None:
    """The page stores only totals, but its figures still follow edited rates and speeds."""
    cluster = Cluster.equal(40)
    network = type(cluster.network)(kind, overhead_s=1e-6)  # type: ignore[arg-type]
    placement = preset_placement(operators=3000, cluster=Cluster(cluster.devices, network))
    report, job = reports(placement), EditedPlacement.of(placement)
    assert "too many to draw" in report.page.inner_text("#graph")
    tiles = report.page.locator("#graph .tile")
    assert tiles.count() == 40
    assert report.page.is_hidden("#save")
    assert report.page.locator("canvas").count() == 0
    report.type("#rate", "31000")
    report.type(report.page.get_by_label("MIPS of \u2068d7\u2069", exact=True), "900")
    report.type("#bandwidth", "120")
    job.rate, job.mips[7], job.bandwidth = 31000.0, 900.0, 120.0
    score = simulate(job.placement())
    check_page_score(report.score(), score)
    for tile, load in zip(tiles.all_inner_texts(), score.devices, strict=True):
        assert tile.split() == [load.name, f"{load.utilisation:.1%}"]
    assert len(Path(report.address.removeprefix("file://")).read_text()) < 900_000


def test_many_devices_with_few_in_use(reports: Reports) -> None:
    """Only devices in use have lanes; the list of operators offers all devices."""
    placement = preset_placement(operators=5, cluster=Cluster.equal(300))
    report, job = reports(placement), EditedPlacement.of(placement)
    select = report.page.locator("#operators select").first
    select.focus()
    select.select_option("299")
    score = report.score()
    moved = [v for v, d in enumerate(score["assignment"]) if d == 299]
    assert len(moved) == 1
    job.assignment[moved[0]] = 299
    check_page_score(score, simulate(job.placement()))
    assert report.page.evaluate("streamplace.whereIs('device', 299)") is not None
    assert "Idle devices have no lane" in report.page.inner_text("#legend")


@pytest.mark.parametrize("instructions", [0.0, 1e5])
def test_a_job_of_one_operator(instructions: float, reports: Reports) -> None:
    graph = StreamGraph([Operator("only", instructions, 0.0)], [])
    placement = Placement(Problem(graph, Cluster.equal(1), source_rate=1e5), np.array([0]))
    report, job = reports(placement), EditedPlacement.of(placement)
    check_page_score(report.score(), simulate(placement))
    report.drag(0, 0)
    report.press("#graph", "ArrowRight", "ArrowDown", "ArrowUp")
    report.type("#rate", "7")
    job.rate = 7.0
    check_page_score(report.score(), simulate(job.placement()))
    assert report.page.inner_text("#links-note") == "No stream crosses between devices."
