"""Tests for the report page: several placements, undo, limits, notes, window sizes."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamplace import (
    Cluster,
    Constraints,
    Device,
    Operator,
    Placement,
    Problem,
    StreamGraph,
    read_placement,
    simulate,
)
from streamplace.problem.objective import Model
from streamplace.scoring.flow import flow
from streamplace.scoring.throughput import bound
from tests.support.graphs import preset_graph
from tests.support.page_edits import EditedPlacement, check_page_score
from tests.support.reports import Report, Reports


def preset_placement(
    preset: str = "layered", operators: int = 20, seed: int = 0, **options: Any
) -> Placement:
    """Return a random placement of a generated graph, on five devices by default."""
    graph = preset_graph(preset, operators, seed=7)
    cluster = options.pop("cluster", None) or Cluster.equal()
    problem = Problem(graph, cluster, source_rate=options.pop("source_rate", 2e4), **options)
    devices = np.random.default_rng(seed).integers(len(cluster.devices), size=operators)
    return Placement(problem, devices)


def figure(report: Report, title: str) -> str:
    """Return a large figure by its title."""
    page = report.page
    found = page.locator(".figure", has=page.get_by_role("heading", name=title, exact=True))
    return str(found.locator("strong").inner_text())


def broken_constraints(report: Report) -> str:
    """Return the violated constraints that the page reports, without isolation marks."""
    text = str(report.page.inner_text("#broken"))
    return text.replace("\u2068", "").replace("\u2069", "")


def test_placements_side_by_side_have_separate_edits(reports: Reports) -> None:
    first, second = preset_placement(seed=1), preset_placement(seed=2)
    report = reports(first, second)
    cards = report.page.locator("#cards button")
    assert cards.count() == 2
    report.drag(3, int(first.devices[3] + 1) % 5)
    moved = EditedPlacement.of(first)
    moved.assignment[3] = int(first.devices[3] + 1) % 5
    cards.nth(1).click()
    check_page_score(report.score(), simulate(second))
    assert report.page.is_disabled("#undo")
    cards.nth(0).click()
    check_page_score(report.score(), simulate(moved.placement()))
    assert cards.nth(0).get_attribute("aria-pressed") == "true"
    assert "edited" in cards.nth(0).inner_text()
    assert "edited" not in cards.nth(1).inner_text()


def test_undo_redo_and_reset(reports: Reports) -> None:
    placement = preset_placement()
    report = reports(placement)
    page = report.page
    report.type("#rate", "5000")
    report.press("#graph", "ArrowRight", "ArrowUp" if placement.devices[0] else "ArrowDown")
    edited = report.score()
    page.click("#undo")
    assert report.score()["assignment"] == placement.devices.tolist()
    assert report.score()["source_rate"] == 5000
    page.keyboard.press("Control+Shift+z")
    assert report.score() == edited
    page.click("#reset")
    check_page_score(report.score(), simulate(placement))
    page.keyboard.press("Control+z")
    assert report.score() == edited


def test_a_drag_of_the_slider_is_one_edit(reports: Reports) -> None:
    report = reports(preset_placement())
    box = report.page.locator("#slider").bounding_box()
    assert box is not None
    mouse, y = report.page.mouse, box["y"] + box["height"] / 2
    mouse.move(box["x"] + box["width"] / 2, y)
    mouse.down()
    mouse.move(box["x"] + box["width"] * 0.9, y, steps=6)
    mouse.up()
    assert report.score()["source_rate"] > 5e4
    report.page.click("#undo")
    assert report.score()["source_rate"] == 2e4
    assert report.page.is_disabled("#undo")


def test_an_invalid_number_changes_nothing(reports: Reports) -> None:
    report = reports(preset_placement())
    before = report.score()
    for field in ("#rate", "#bandwidth", "#devices input >> nth=0"):
        for text in ("-5", "1e", "0", "1e99"):
            report.type(field, text)
            assert report.score() == before
            assert float(report.page.input_value(field)) in (20000, 1000, 2500)
    report.type("#rate", "")
    assert report.score() == before
    assert report.page.is_disabled("#undo")


def test_the_details_panel_keeps_the_keyboard_focus(reports: Reports) -> None:
    placement = preset_placement(operators=6)
    report = reports(Placement(placement.problem, np.zeros(6, dtype=int)))
    report.press("#graph", "ArrowRight")
    assert "op_0 on d0" in report.page.inner_text("#announcement")
    report.press("#details select", "ArrowDown", "ArrowDown")
    assert report.score()["assignment"] == [2, 0, 0, 0, 0, 0]
    assert "op_0" in report.page.inner_text("#details")


def test_the_bound_follows_edits(reports: Reports) -> None:
    """The bound follows the source rate; after an edit of the links it considers only CPU."""
    placement = preset_placement(operators=12, cluster=slow_links())
    report, job = reports(placement), EditedPlacement.of(placement)
    assert report.score()["bound"] == bound(placement.problem)
    to = int(placement.devices[0] + 1) % 5
    report.drag(0, to)
    job.assignment[0] = to
    assert report.score()["bound"] == bound(placement.problem)
    work = flow(placement.problem).work / placement.problem.source_rate
    cpu_bound = min(5 * 2.5e9 / work.sum(), 2.5e9 / work.max())
    for rate in (100000.0, 7.0, 30000.0):
        report.type("#rate", repr(rate))
        job.rate = rate
        assert report.score()["bound"] == pytest.approx(bound(job.placement().problem), rel=1e-12)
        assert "by CPU alone" not in report.page.inner_text("#figures")
    assert report.score()["bound"] < 0.9 * min(cpu_bound, 30000)
    report.type("#bandwidth", "2000")
    assert report.score()["bound"] == pytest.approx(min(cpu_bound, 30000))
    assert "by CPU alone" in report.page.inner_text("#figures")


def slow_links() -> Cluster:
    """Return five devices on links so slow that streams weigh more than operators."""
    five = Cluster.equal()
    return Cluster(five.devices, replace(five.network, bandwidth_mbps=0.5))


def test_edits_that_change_nothing_are_not_recorded(reports: Reports) -> None:
    report = reports(preset_placement())
    report.type("#rate", "5000")
    report.page.click("#undo")
    report.type("#rate", "20000.0")
    report.type("#bandwidth", "1000.0")
    report.type(report.page.locator("#devices input").first, "2500.0")
    assert report.page.is_disabled("#undo")
    report.page.click("#redo")
    assert report.score()["source_rate"] == 5000


def test_arrows_with_alt_are_left_to_the_browser(reports: Reports) -> None:
    report = reports(preset_placement())
    report.press("#graph", "ArrowRight")
    kept = report.page.evaluate(
        """() => document.getElementById("graph").dispatchEvent(
            new KeyboardEvent("keydown", {key: "ArrowLeft", altKey: true, cancelable: true})
        )"""
    )
    assert kept
    assert report.page.evaluate("streamplace.chosen()")["number"] == 0


def test_cards_show_placer_and_graph(reports: Reports) -> None:
    first, other = preset_placement(), preset_placement("dream", operators=6)
    same = reports(first, first, placer="metis").page.locator("#cards button")
    assert all("by metis" in text for text in same.all_inner_texts())
    assert first.problem.graph.name not in same.first.inner_text()
    several = reports(first, other).page.locator("#cards button").all_inner_texts()
    for text, placement in zip(several, (first, other), strict=True):
        assert placement.problem.graph.name in text


def test_lanes_fill_the_height_of_the_drawing(reports: Reports) -> None:
    """Names of 30 operators in three lanes are readable, and the lanes fill the height."""
    report = reports(preset_placement(operators=30, cluster=Cluster.equal(3)))
    report.page.set_viewport_size({"width": 1280, "height": 900})
    box = report.page.locator("#graph").bounding_box()
    assert box is not None
    middles = [report.where_is("device", d)[1] for d in (0, 2)]
    assert middles[1] - middles[0] > box["height"] / 2
    assert report.page.evaluate("streamplace.whereIs('operator', 0)")["text"] >= 8


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


@pytest.mark.parametrize("model", ["path-average", "engine"])
def test_the_page_names_another_model_and_saves_it(
    model: Model, reports: Reports, tmp_path: Path
) -> None:
    placement = preset_placement(model=model, operators=8)
    report = reports(placement)
    assert f"own model is {model}" in report.page.inner_text("#notes")
    saved = json.loads(report.download(tmp_path / "p.json").read_text())
    assert saved["problem"]["model"] == model
    assert "score" not in saved
    as_shown = read_placement(tmp_path / "p.json", model="bottleneck")
    check_page_score(report.score(), simulate(as_shown))


def test_constraints_violated_by_an_edit_are_listed(reports: Reports) -> None:
    rules = Constraints(pins={"op_0": "d0"}, exlocate=[["op_1", "op_2"]])
    problem = preset_placement(operators=6, constraints=rules).problem
    report = reports(Placement(problem, np.array([0, 1, 2, 0, 1, 2])))
    assert broken_constraints(report) == ""
    report.drag(0, 3)
    assert broken_constraints(report) == "Violated constraint: “op_0” is pinned to “d0”."
    report.drag(1, 2)
    assert "“op_2” must not share a device with “op_1”" in broken_constraints(report)
    report.page.click("#reset")
    assert broken_constraints(report) == ""


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
        assert tile.split() == [load.name, f"{100 * load.utilisation:.1f}", "%"]
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


def test_dark_and_light_themes(reports: Reports) -> None:
    """Each device has its own colour in both themes, and figures stay the same."""
    report = reports(preset_placement(), preset_placement(seed=1))
    before, swatches, drawn = report.score(), [], []
    for scheme in ("dark", "light"):
        report.page.emulate_media(color_scheme=scheme)
        report.settle()  # the page hears of another scheme when it is next drawn
        swatch = report.page.locator("#devices .swatch").first
        swatches.append(swatch.evaluate("one => getComputedStyle(one).backgroundColor"))
        drawn.append(report.page.evaluate("streamplace.whereIs('device', 0)")["colour"])
        assert report.score() == before
    assert len(set(swatches)) == len(set(drawn)) == 2
    dark, light = (sum(map(int, re.findall(r"\d+", colour))) for colour in drawn)
    assert dark < 3 * 80 < 3 * 200 < light
