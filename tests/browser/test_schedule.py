"""Tests for the schedule of a placement under the makespan objective on the report page."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.reference.schedule_placements import placement_of
from benchmarks.reference.schedule_problems import schedule_problem
from streamplace import (
    Cluster,
    Device,
    Network,
    Operator,
    Placement,
    Problem,
    StreamGraph,
    read_placement,
)
from streamplace.problem.makespan import Makespan
from tests.support.graphs import preset_graph
from tests.support.makespan_problems import makespan_score
from tests.support.page_schedules import can_run, check_page, edited
from tests.support.reports import Report, Reports

KINDS = ("lane", "bar", "list", "arrows")


def preset_placement(operators: int = 30, seed: int = 0, **options: Any) -> Placement:
    """Return a random placement of a generated graph on five devices of different speeds."""
    devices = [Device(f"d{i}", 1500.0 + 500 * i, 1 + i % 3) for i in range(5)]
    cluster = Cluster(devices, Network("pair", bandwidth_mbps=2e4, overhead_s=1e-4))
    graph = preset_graph("layered", operators, seed=7)
    problem = Problem(graph, cluster, objective=Makespan(batch=10_000, **options))
    return Placement(problem, np.random.default_rng(seed).integers(5, size=operators))


def move(report: Report, v: int, d: int, kind: str, moved: Placement) -> None:
    """Move an operator on the page."""
    page = report.page
    if kind == "lane":
        report.drag(v, d)
    elif kind == "bar":
        report.drag_bar(v, d)
    elif kind == "list":
        name = moved.problem.graph.names[v]
        report.unfold()
        row = page.locator("#operators tr", has=page.get_by_role("button", name=name, exact=True))
        row.locator("select").focus()
        if row.locator(f'option[value="{d}"]').is_disabled():  # the menu does not offer it
            report.drag(v, d)
        else:
            row.locator("select").select_option(str(d))
    else:
        chosen = page.evaluate("streamplace.score()")["assignment"][v]
        page.evaluate("document.getElementById('gantt').focus()")
        while (page.evaluate("streamplace.chosen()") or {}).get("number") != v:
            page.keyboard.press("ArrowRight")
        for _ in range(abs(d - chosen)):
            page.keyboard.press("ArrowDown" if d > chosen else "ArrowUp")


@pytest.mark.parametrize("seed", range(20))
def test_the_schedule_follows_edits(seed: int, reports: Reports, tmp_path: Path) -> None:
    """Ten moves by the lanes, the bars, the list and the keyboard give Python's schedules."""
    placement = placement_of(**schedule_problem(seed, large=seed % 2 > 0))
    report, rng = reports(placement), np.random.default_rng(seed)
    moves, placements = edited(placement, seed)
    check_page(report.score(), makespan_score(placement))
    for (v, d), expected in zip(moves, placements[1:], strict=True):
        has_bars = report.score()["makespan"] is not None
        kinds = KINDS if has_bars else ("lane", "list", "arrows")
        move(report, v, d, str(rng.choice(kinds)), expected)
        shown = report.score()
        assert shown["assignment"] == expected.devices.tolist()
        if can_run(expected):
            check_page(shown, makespan_score(expected))
        else:
            assert shown["makespan"] is None
    saved = read_placement(report.download(tmp_path / "edited.json"))
    assert saved.devices.tolist() == placements[-1].devices.tolist()
    assert saved.problem.objective == placement.problem.objective
    assert saved.problem.graph == placement.problem.graph
    assert saved.problem.cluster == placement.problem.cluster
    while report.page.is_enabled("#undo"):
        report.page.keyboard.press("Control+z")
    check_page(report.score(), makespan_score(placement))


def test_a_preview_shows_the_schedule_before_the_drop(reports: Reports) -> None:
    placement = preset_placement()
    report = reports(placement)
    devices = placement.devices.copy()
    v, d = 3, (int(devices[3]) + 2) % 5
    devices[v] = d
    moved = makespan_score(Placement(placement.problem, devices))
    report.drag_bar(v, d, drop=False)
    check_page(report.score(), moved)
    assert report.page.is_disabled("#undo")
    report.page.keyboard.press("Escape")
    report.page.mouse.up()
    check_page(report.score(), makespan_score(placement))
    report.drag_bar(v, d)
    check_page(report.score(), moved)
    assert report.page.is_enabled("#undo")


def test_bars_are_where_the_schedule_says(reports: Reports) -> None:
    placement = preset_placement()
    report = reports(placement)
    shown = report.score()
    lefts, rows = [], []
    for v in range(30):
        x, y = report.bar("operator", v)
        middle = (shown["start"][v] + shown["end"][v]) / 2
        lefts.append((middle, x))
        rows.append((int(placement.devices[v]), y))
    slope, intercept = np.polyfit([moment for moment, _ in lefts], [x for _, x in lefts], deg=1)
    assert all(abs(slope * moment + intercept - x) < 1.5 for moment, x in lefts)
    tops = [report.bar("device", d)[1] for d in range(5)]
    assert tops == sorted(tops)
    for d, y in rows:
        assert min(range(5), key=lambda other: abs(tops[other] - y)) == d


def test_hovering_a_bar_shows_its_times(reports: Reports) -> None:
    placement = preset_placement()
    report, names = reports(placement), placement.problem.graph.names
    last = report.score()["critical_path"][-1]
    report.page.locator("#gantt").scroll_into_view_if_needed()
    report.settle()
    report.page.mouse.move(*report.bar("operator", last["number"]))
    tip = report.page.inner_text(".tip")
    assert names[last["number"]] in tip
    assert "on the critical path" in tip
    assert f"to {makespan_score(placement).makespan_s:.4g}"[:7] in tip
    report.page.mouse.move(2, 2)
    assert report.page.is_hidden(".tip")


def test_choosing_a_bar_shows_its_details(reports: Reports) -> None:
    placement = preset_placement()
    report, names = reports(placement), placement.problem.graph.names
    report.page.locator("#gantt").scroll_into_view_if_needed()
    report.settle()
    report.page.mouse.click(*report.bar("operator", 7))
    details = report.page.inner_text("#details")
    assert names[7] in details
    assert "Waits for" in details
    assert report.page.evaluate("streamplace.chosen()") == {"kind": "operator", "number": 7}
    assert report.page.is_disabled("#undo")


def test_the_schedule_can_be_zoomed(reports: Reports) -> None:
    report = reports(preset_placement())

    def width() -> float:
        box = report.page.evaluate("streamplace.whereInSchedule('operator', 7)")
        return float(box["width"])

    before = width()
    report.page.click("#gantt-in")
    assert width() > 1.2 * before
    report.page.click("#gantt-out")
    assert width() == pytest.approx(before, rel=0.05)
    report.page.click("#gantt-in")
    report.page.click("#gantt-fit")
    assert width() == pytest.approx(before, rel=1e-6)


def test_all_messages_change_the_picture(reports: Reports) -> None:
    report = reports(preset_placement())
    pixels = "document.querySelector('#gantt canvas').toDataURL()"
    report.settle()
    before = report.page.evaluate(pixels)
    report.page.check("#messages")
    report.settle()
    assert report.page.evaluate(pixels) != before
    report.page.uncheck("#messages")
    report.settle()
    assert report.page.evaluate(pixels) == before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_critical_bars_are_marked(scheme: Any, reports: Reports) -> None:
    """In both colour schemes, the edge of a critical bar has the alarm colour, and others not."""
    report = reports(preset_placement())
    report.page.emulate_media(color_scheme=scheme)
    report.settle()
    critical = {s["number"] for s in report.score()["critical_path"] if s["kind"] == "operator"}
    reddish = """(v) => {
        const copy = document.createElement("canvas");
        const drawn = document.querySelector("#gantt canvas");
        [copy.width, copy.height] = [drawn.width, drawn.height];
        const pen = copy.getContext("2d", { willReadFrequently: true });
        pen.drawImage(drawn, 0, 0);
        const box = streamplace.whereInSchedule("operator", v);
        const [r, g, b] = pen.getImageData(box.left + 1, box.top + box.height / 2, 1, 1).data;
        return r > 1.6 * g && r > 1.6 * b;
    }"""
    wide = [
        v
        for v in range(30)
        if report.page.evaluate(f"streamplace.whereInSchedule('operator', {v}).width") > 8
    ]
    marked = {v for v in wide if report.page.evaluate(reddish, v)}
    assert marked == critical & {*wide}
    assert marked


def test_a_graph_too_large_for_lanes_has_bars(reports: Reports) -> None:
    placement = preset_placement(1000)
    report = reports(placement)
    assert "too many to draw" in report.page.inner_text("#graph")
    devices, v = placement.devices.copy(), int(np.argmax(makespan_score(placement).timetable.end))
    devices[v] = (devices[v] + 1) % 5
    report.drag_bar(v, int(devices[v]))
    check_page(report.score(), makespan_score(Placement(placement.problem, devices)))


def test_without_a_schedule_the_page_says_why(reports: Reports) -> None:
    operators = [
        Operator("a", 1e6, 10.0),
        Operator("b", 1e6, 10.0, seconds_on={"gpu": None}),
    ]
    graph = StreamGraph(operators, source_rate=1.0)
    cluster = Cluster([Device("d0", 1000.0), Device("d1", 1000.0, kind="gpu")])
    problem = Problem(graph, cluster, objective=Makespan())
    report = reports(Placement(problem, np.array([0, 0])))
    report.drag_bar(1, 1)
    assert "cannot run" in report.page.inner_text("#gantt")
    assert "“b” cannot run on devices of kind “gpu”" in report.page.inner_text("#broken").replace(
        "\u2068", ""
    ).replace("\u2069", "")
    assert "no schedule" in report.page.inner_text("#figures")
    report.page.click("#undo")
    check_page(report.score(), makespan_score(Placement(problem, np.array([0, 0]))))


def test_throughput_has_no_schedule(reports: Reports) -> None:
    placement = preset_placement()
    problem = Problem(placement.problem.graph, placement.problem.cluster, source_rate=1e3)
    other = Placement(problem, placement.devices)
    report = reports(placement, other)
    assert report.page.is_visible("#timeline")
    assert report.page.is_hidden("#what-if")
    report.page.locator("#cards button").nth(1).click()
    assert report.page.is_hidden("#timeline")
    assert report.page.is_visible("#what-if")
    assert "tuples/s" in report.page.inner_text("#figures")
    report.page.locator("#cards button").nth(0).click()
    check_page(report.score(), makespan_score(placement))


@pytest.mark.parametrize("width", [360, 600, 1020])
def test_a_narrow_window_needs_no_sideways_scrolling(width: int, reports: Reports) -> None:
    report = reports(preset_placement(), preset_placement(seed=1))
    report.page.set_viewport_size({"width": width, "height": 800})
    report.settle()
    assert report.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    report.drag_bar(0, 4)
    assert report.score()["assignment"][0] == 4
