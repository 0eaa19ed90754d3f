"""Tests for the report page: several placements, random edits, undo, limits, notes and themes."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from streamplace import (
    Cluster,
    Constraints,
    Device,
    Operator,
    Placement,
    Problem,
    Stream,
    StreamGraph,
    explain,
    place,
    read_placement,
    simulate,
)
from streamplace import report as page_of
from streamplace.display.text import duration
from streamplace.problem.objective import Model
from streamplace.scoring.flow import flow
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.throughput import bound
from streamplace.workflows.explain_losses import shares_left
from streamplace.workflows.explanation import Explanation
from tests.support.page_edits import (
    EditedPlacement,
    check_page_score,
    edit_page,
    preset_placement,
    random_placement,
)
from tests.support.reports import Report, Reports

EDITS = ("drag", "slider", "arrows", "mips", "drag", "list", "rate", "bandwidth", "drag", "mouse")


def figure(report: Report, title: str) -> str:
    """Return a large figure by its title."""
    page = report.page
    found = page.locator(".figure", has=page.get_by_role("heading", name=title, exact=True))
    return str(found.locator("strong").inner_text())


def broken_constraints(report: Report) -> str:
    """Return the violated constraints that the page reports, without isolation marks."""
    return plain(report.page.inner_text("#broken"))


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
    cards.nth(0).click()
    check_page_score(report.score(), simulate(moved.placement()))
    assert cards.nth(0).get_attribute("aria-pressed") == "true"
    assert "edited" in cards.nth(0).inner_text()
    assert "edited" not in cards.nth(1).inner_text()


def test_one_source_rate_for_all_placements(reports: Reports) -> None:
    """Undo shows the placement whose edit it takes back, and takes a rate back from all."""
    placements = [preset_placement(seed=seed) for seed in (1, 2)]
    report = reports(*placements)
    page, cards = report.page, report.page.locator("#cards button")
    report.drag(3, int(placements[0].devices[3] + 1) % 5)
    cards.nth(1).click()
    report.type("#rate", "400")
    assert ["of 400," in text for text in cards.all_inner_texts()] == [True, True]
    slow = replace(EditedPlacement.of(placements[1]), rate=400.0)
    check_page_score(report.score(), simulate(slow.placement()))
    page.click("#undo")
    assert ["of 20,000," in text for text in cards.all_inner_texts()] == [True, True]
    assert cards.nth(1).get_attribute("aria-pressed") == "true"
    page.click("#undo")
    assert cards.nth(0).get_attribute("aria-pressed") == "true"
    check_page_score(report.score(), simulate(placements[0]))
    page.click("#redo")
    page.click("#redo")
    page.click("#reset")
    assert all("edited" not in text for text in cards.all_inner_texts())


def test_a_card_says_what_a_team_lead_asks(reports: Reports) -> None:
    devices = [Device("a", 2500.0), Device("b", 2500.0, labels=("gpu",)), Device("c", 2500.0)]
    graph = StreamGraph(
        [Operator("in", 1e5, 100.0), Operator("out", 1e5, 0.0, requires=("gpu",))],
        [Stream("in", "out")],
    )
    found = place(graph, Cluster(devices), source_rate=10_000.0)
    assert found.fewer_devices == 1
    page = reports.show(page_of(found).html()).page
    assert plain(page.inner_text("#sentence")) == (
        "Carries 2.5 times the offered rate on 2 of 3 machines, of which 1 suffices; "
        "without b, some operator can run nowhere."
    )


def test_without_a_machine(reports: Reports) -> None:
    """Sources that send nothing to the machine go on; what may run nowhere else is named."""
    graph = StreamGraph(
        [Operator(name, 1e5, 100.0) for name in ("in", "other", "join", "log")],
        [Stream("in", "join"), Stream("other", "log")],
        source_shares={"in": 0.75, "other": 0.25},
    )
    rules = Constraints(pins={"join": "d1"})
    problem = Problem(graph, Cluster.equal(3), source_rate=1000.0, constraints=rules)
    report = reports(Placement(problem, np.array([0, 0, 1, 0])))
    page = report.page

    def shown(device: str) -> list[str]:
        page.select_option("#without", device)
        return [plain(line) for line in page.locator("#loss li").all_inner_texts()]

    assert shown("1") == [
        "1 operator stops and has to move: join.",
        "1 other operator waits for them.",
        "25.0% of 1,000 tuples/s is left without a move.",
        "join may run on no other machine.",
    ]
    assert shown("2") == ["Nothing runs there, so nothing stops."]
    before = report.score()
    report.type("#devices input >> nth=0", "0")
    assert report.score() == before
    assert page.input_value("#without") == "0"
    assert plain(page.locator("#loss li").nth(2).inner_text()).startswith("0.0% of 1,000")
    assert page.locator("#devices tr.uses").nth(2).inner_text() == "not used"


def test_an_idle_machine_says_why(reports: Reports) -> None:
    """It is too slow, no operator may run there, or it is just not used."""
    devices = [Device("a", 2500.0), Device("b", 1e-3), Device("c", 2500.0), Device("d", 2500.0)]
    graph = StreamGraph([Operator("only", 1e5, 0.0)])
    rules = Constraints(allowed={"only": ["a", "b", "d"]})
    problem = Problem(graph, Cluster(devices), source_rate=1000.0, constraints=rules)
    page = reports(Placement(problem, np.array([0]))).page
    assert page.locator("#devices tr.uses").all_inner_texts() == [
        "",
        "not used: too slow for each operator that may run there",
        "not used: no operator may run there",
        "not used",
    ]


def test_latencies_of_the_placement_s_own_run(reports: Reports) -> None:
    placement = preset_placement(operators=6, source_rate=50.0, model="engine")
    latency = simulate(placement).to_dict()["latency_s"]
    facts = reports(placement).page.inner_text("#facts")
    assert all(f"{name} {duration(seconds, 2)}" in facts for name, seconds in latency.items())


def test_a_large_graph_shows_what_is_left_without_a_machine(reports: Reports) -> None:
    placement = preset_placement(operators=600)
    page = reports(placement).page
    page.select_option("#without", "1")
    stopped = placement.devices[np.newaxis] == 1
    [left] = shares_left(placement, stopped)
    assert page.locator("#loss li").all_inner_texts() == [
        f"{stopped.sum()} operators stop and have to move.",
        f"{left:.1%} of 20,000 tuples/s is left without a move.",
        "Each may run on another machine.",
    ]


def test_the_streams_of_the_link_that_is_used_most(reports: Reports) -> None:
    """On a page of a graph that is drawn and on one of a graph that is not."""
    for operators in (40, 600):
        placement = preset_placement(operators=operators, cluster=slow_links())
        score = simulate(placement)
        assert score.bottleneck.kind == "link"
        found = explain(placement)
        assert isinstance(found, Explanation)
        expected = found.contributions
        page = reports(placement).page
        rows = page.locator("#details tbody tr").all_inner_texts()
        assert [plain(row).split("\t") for row in rows] == [
            [" → ".join(one.names), f"{one.share:.1%}"] for one in expected[: len(rows)]
        ]
        more = len(expected) - len(rows)
        assert (f"and {more:,} more" in page.inner_text("#details")) == (more > 0)
    assert more > 0


def plain(text: str) -> str:
    """Return text without the characters that isolate names."""
    return text.replace("\u2068", "").replace("\u2069", "")


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


@pytest.mark.parametrize("rate", [20.0, 1e6])
def test_one_answer_to_what_limits_the_job(rate: float, reports: Reports) -> None:
    """Only what limits the job is in the colour of alarm, in the figures and in one list."""
    report = reports(preset_placement(source_rate=rate))
    page, score = report.page, report.score()
    page.wait_for_selector("#operators tr")
    alarmed = page.locator(
        "#figures .alarm, #devices .value.alarm, #links .value.alarm, .tag.alarm"
    )
    marked = page.locator("#devices .value.first, #links .value.first")
    if rate == 20.0:
        assert score["relative_throughput"] == 1
        assert figure(report, "Busiest").startswith(score["bottleneck"]["kind"])
        assert float(figure(report, "Carries up to").replace(",", "")) > rate
        assert page.inner_text("#alarmed") == "busiest"
        assert alarmed.locator("visible=true").count() == 0
    else:
        assert figure(report, "Bottleneck").startswith(score["bottleneck"]["kind"])
        assert page.inner_text("#alarmed") == "bottleneck"
        assert alarmed.locator("visible=true").count() == 2  # in the figures, and in one list
    assert marked.count() == (score["bottleneck"]["kind"] != "operator")


def test_the_page_states_prices_racks_labels_and_constraints(reports: Reports) -> None:
    """Menus do not offer forbidden devices, with the reason as the title."""
    devices = [
        Device("a", 2500.0, group="left", price=2.0, labels=("ssd",)),
        Device("b", 2500.0, group="right", price=3.0),
    ]
    rules = Constraints(pins={"op_0": "a"})
    placement = preset_placement(operators=4, cluster=Cluster(devices), constraints=rules)
    page = reports(Placement(placement.problem, np.zeros(4, dtype=int))).page
    facts, uses = page.inner_text("#facts"), page.locator("#devices tr.uses").first.inner_text()
    assert "2 for the devices in use, 5 for all" in facts
    assert "1 of 2 groups in use" in facts
    assert "placement.json" in facts
    assert all(word in uses for word in ("left", "price 2", "ssd"))
    assert page.locator("#rules li").all_inner_texts() == [
        "“\u2068op_0\u2069” is pinned to “\u2068a\u2069”"
    ]
    row = page.locator("#operators tr", has_text="pinned")
    row.locator("select").focus()
    options = row.locator("option")
    assert options.evaluate_all("all => all.map(one => one.disabled)") == [False, True]
    assert "is pinned to" in str(options.nth(1).get_attribute("title"))


def test_nothing_scrolls_and_paper_has_no_controls(reports: Reports, tmp_path: Path) -> None:
    """Long tables are folded on the screen and whole on paper, where fields are text."""
    report = reports(preset_placement(operators=60))
    page = report.page
    page.wait_for_selector("#operators tr")
    scrolling = """[...document.querySelectorAll("body *")].filter(
        (one) => /auto|scroll/.test(getComputedStyle(one).overflow)).length"""
    assert page.evaluate(scrolling) == 0
    rows = page.locator("#operators tr:visible")
    assert rows.count() == 40
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert rows.count() == 60
    assert (
        page.locator("button:not(.plain, .card), input, select").locator("visible=true").count()
        == 0
    )
    assert page.locator("#operators .printed").first.inner_text() in {f"d{i}" for i in range(5)}
    picture = page.locator("canvas.printed").bounding_box()
    assert picture is not None
    assert picture["height"] > 100
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.locator(".printed").count() == 0
    page.get_by_role("button", name="Show all rows").first.click()
    assert rows.count() == 60


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
