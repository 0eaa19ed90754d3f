"""Tests for names in a report: all are shown as text and none becomes markup."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from streamplace import (
    Cluster,
    Constraints,
    Device,
    LinkOverride,
    Network,
    Operator,
    Placement,
    Problem,
    Stream,
    StreamGraph,
    read_placement,
    simulate,
)
from tests.support.page_edits import (
    HOSTILE_NAMES,
    EditedPlacement,
    assignment_of,
    check_page_score,
    edit_page,
)
from tests.support.reports import Reports

MAX_SHOWN_CHARACTERS = 500


def hostile_placement() -> Placement:
    """Return a placement in which every name tries to become markup."""
    rows = [
        Operator(name, 2e5, 500.0, memory_bytes=1e6, instance_of=name)
        for name in reversed(HOSTILE_NAMES)
    ]
    streams = [Stream(a, b) for a, b in pairwise(HOSTILE_NAMES)]
    devices = [
        Device(name, 500.0, labels=(HOSTILE_NAMES[2],), memory_bytes=1e8)
        for name in HOSTILE_NAMES[:8]
    ]
    rules = Constraints(
        pins={HOSTILE_NAMES[1]: HOSTILE_NAMES[3], HOSTILE_NAMES[10]: HOSTILE_NAMES[2]},
        colocate=[[HOSTILE_NAMES[4], HOSTILE_NAMES[14]]],
        exlocate=[[HOSTILE_NAMES[6], HOSTILE_NAMES[7]]],
        allowed={HOSTILE_NAMES[8]: HOSTILE_NAMES[4:6]},
    )
    network = Network(
        overrides=(LinkOverride(HOSTILE_NAMES[0], HOSTILE_NAMES[1], bandwidth_mbps=5.0),)
    )
    graph = StreamGraph(rows, streams, name=HOSTILE_NAMES[2], source_shares={HOSTILE_NAMES[0]: 1.0})
    problem = Problem(graph, Cluster(devices, network), source_rate=2e4, constraints=rules)
    return Placement(problem, np.arange(len(HOSTILE_NAMES)) % len(devices))


@pytest.fixture(scope="module")
def placement() -> Placement:
    return hostile_placement()


def test_names_are_text(placement: Placement, reports: Reports) -> None:
    report = reports(placement, placement, title=HOSTILE_NAMES[1])
    page = report.page
    harmless = "#data, script, style, title, noscript"
    assert page.title().startswith(HOSTILE_NAMES[2])
    assert page.locator("script:not([type])").count() == len(report_scripts())
    assert page.locator("img, svg, iframe, object, embed, link[rel=stylesheet]").count() == 0
    for v in range(len(HOSTILE_NAMES)):
        page.locator("#operators button").nth(v).click()
        assert page.locator("#details b, #details img, #details script").count() == 0
    for d in range(8):
        page.locator("#devices button").nth(d).click()
    shown = page.evaluate(
        """harmless => {
            const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            const texts = [];
            while (walker.nextNode()) {
                if (!walker.currentNode.parentElement.closest(harmless)) {
                    texts.push(walker.currentNode.data);
                }
            }
            return texts;
        }""",
        harmless,
    )
    assert max(map(len, shown)) <= MAX_SHOWN_CHARACTERS
    for name in HOSTILE_NAMES[:-1]:
        assert " ".join(name.split()) in shown
    assert any(text.startswith("long xxx") and "…" in text for text in shown)


def test_hostile_names_in_violated_constraints(placement: Placement, reports: Reports) -> None:
    on, rules = placement.assignment, placement.problem.constraints
    broken = [on[v] != d for v, d in rules.pins.items()]
    broken += [on[v] not in among for v, among in rules.allowed.items()]
    broken += [len({on[v] for v in group}) > 1 for group in rules.colocate]
    broken += [len({on[v] for v in group}) < len(group) for group in rules.exlocate]
    notes = reports(placement).page.locator("#broken li").all_inner_texts()
    assert all(note.startswith("Violated constraint: ") for note in notes)
    assert len(notes) == sum(broken) > 2  # every one is listed


def test_hostile_names_survive_edits_and_the_download(
    placement: Placement, reports: Reports, tmp_path: Path
) -> None:
    report, job, rng = reports(placement), EditedPlacement.of(placement), np.random.default_rng(1)
    report.page.locator("#graph").scroll_into_view_if_needed()
    for kind in ("drag", "arrows", "mips", "rate", "bandwidth", "drag"):
        edit_page(report, job, kind, rng)
        check_page_score(report.score(), simulate(job.placement()))
    saved = read_placement(report.download(tmp_path / "edited.json"))
    assert saved.problem.graph == placement.problem.graph
    assert saved.problem.constraints == placement.problem.constraints
    assert assignment_of(saved.assignment, saved) == job.assignment
    check_page_score(report.score(), simulate(saved))


def placement_of_similar_names(operators: int = 9, devices: int = 4) -> Placement:
    """Return a placement whose names differ in one character, at the end or in the middle."""
    pool = "gke-production-eu-west4-default-pool-1a2b3c4d"
    pattern = "com.example.pipeline.enrichment.WindowedJoin/{}.of.the.second.stage.of.the.pipeline"
    names = [pattern.format(i) for i in range(operators - 3)]
    names += [f"com.example.pipeline.enrichment.of.the.second.stage.Sink/{i}" for i in range(3)]
    rows = [Operator(name, 2e5, 500.0) for name in names]
    streams = [Stream(a, b) for a, b in pairwise(names)]
    cluster = Cluster([Device(f"{pool}-x{d}", 500.0) for d in range(devices)])
    rules = Constraints(pins={names[0]: f"{pool}-x1"}, exlocate=[[names[0], names[devices]]])
    problem = Problem(StreamGraph(rows, streams), cluster, source_rate=2e4, constraints=rules)
    return Placement(problem, np.arange(operators) % devices)


def test_similar_names_stay_distinguishable(reports: Reports) -> None:
    """A shortened name keeps the part that differs, and has the full name as its title."""
    placement = placement_of_similar_names()
    report, problem = reports(placement), placement.problem
    page, devices, operators = report.page, problem.cluster.names, problem.graph.names
    page.locator("#operators select").first.focus()
    texts = {
        "#operators th": len(operators),
        "#operators tr:first-child option": len(devices),
        "#devices th": len(devices),
        "#links th": len(devices),
    }
    for where, count in texts.items():
        found = page.locator(where).evaluate_all("all => all.map(one => one.textContent)")
        assert len(set(found)) == len(found) == count, where
    for where in ("#operators select", "#devices input", "#devices .bar", "#links .bar"):
        labels = page.locator(where).evaluate_all("all => all.map(one => one.ariaLabel)")
        assert len(set(labels)) == len(labels) > 1, where
    titled = page.locator("#devices tr, #operators option[title]")
    assert set(devices) <= set(titled.evaluate_all("all => all.map(one => one.title)"))
    rows = page.locator("#operators tr").evaluate_all("all => all.map(one => one.title)")
    assert set(rows) == set(operators)
    announcements = set()
    for _ in operators:
        report.press("#graph", "ArrowRight")
        announcements.add(page.inner_text("#announcement"))
    assert len(announcements) == len(operators)
    broken = page.inner_text("#broken")
    assert "0.of" in broken
    assert "4.of" in broken
    for kind, names in (("operator", operators), ("device", devices)):
        drawn = [page.evaluate(f"streamplace.whereIs('{kind}', {i})") for i in range(len(names))]
        assert len({one["label"].split("\n")[0] for one in drawn}) == len(names)
    assert page.locator("#devices bdi, #links th, #figures strong").evaluate_all(
        "all => all.every(one => one.scrollWidth <= one.clientWidth + 1)"
    )


@pytest.mark.parametrize("devices", [4, 15])
def test_names_of_lanes_start_inside_the_drawing(devices: int, reports: Reports) -> None:
    report = reports(placement_of_similar_names(devices + 5, devices))
    for d in range(devices):
        assert report.page.evaluate(f"streamplace.whereIs('device', {d})")["left"] >= 0


def report_scripts() -> tuple[str, ...]:
    """Return the names of the scripts of a report page."""
    from streamplace.reports.html import SCRIPTS, VENDORED  # noqa: PLC0415

    return VENDORED + SCRIPTS
