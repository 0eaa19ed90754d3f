"""Names of all kinds are shown as text, and never become markup."""

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
from tests.browser.conftest import Reports
from tests.browser.jobs import HOSTILE, Edited, assignment_of
from tests.browser.test_edits import agrees, edit

LONGEST_SHOWN = 500


def hostile() -> Placement:
    """Return a placement in which everything that has a name has a hostile one."""
    rows = [
        Operator(name, 2e5, 500.0, memory_bytes=1e6, instance_of=name) for name in reversed(HOSTILE)
    ]
    streams = [Stream(a, b) for a, b in pairwise(HOSTILE)]
    devices = [Device(name, 500.0, labels=(HOSTILE[2],), memory_bytes=1e8) for name in HOSTILE[:8]]
    rules = Constraints(
        pins={HOSTILE[1]: HOSTILE[3], HOSTILE[10]: HOSTILE[2]},
        colocate=[[HOSTILE[4], HOSTILE[14]]],
        exlocate=[[HOSTILE[6], HOSTILE[7]]],
        allowed={HOSTILE[8]: HOSTILE[4:6]},
    )
    network = Network(overrides=(LinkOverride(HOSTILE[0], HOSTILE[1], bandwidth_mbps=5.0),))
    graph = StreamGraph(rows, streams, name=HOSTILE[2], source_shares={HOSTILE[0]: 1.0})
    problem = Problem(graph, Cluster(devices, network), source_rate=2e4, constraints=rules)
    return Placement(problem, np.arange(len(HOSTILE)) % len(devices))


@pytest.fixture(scope="module")
def placement() -> Placement:
    return hostile()


def test_names_are_text(placement: Placement, reports: Reports) -> None:
    report = reports(placement, placement, title=HOSTILE[1])
    page = report.page
    harmless = "#data, script, style, title, noscript"
    assert page.title().startswith(HOSTILE[2])
    assert page.locator("script:not([type])").count() == len(report_scripts())
    assert page.locator("img, svg, iframe, object, embed, link[rel=stylesheet]").count() == 0
    for v in range(len(HOSTILE)):
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
    assert max(map(len, shown)) <= LONGEST_SHOWN
    for name in HOSTILE[:-1]:
        assert " ".join(name.split()) in shown
    assert any(text.startswith("long xxx") and text.endswith("…") for text in shown)


def test_rules_with_hostile_names_are_told(placement: Placement, reports: Reports) -> None:
    on, rules = placement.assignment, placement.problem.constraints
    broken = [on[v] != d for v, d in rules.pins.items()]
    broken += [on[v] not in among for v, among in rules.allowed.items()]
    broken += [len({on[v] for v in group}) > 1 for group in rules.colocate]
    broken += [len({on[v] for v in group}) < len(group) for group in rules.exlocate]
    *told, more = reports(placement).page.locator("#broken li").all_inner_texts()
    assert all(note.startswith("Against the constraints: ") for note in told)
    assert more == f"and {sum(broken) - len(told)} more that do not hold"


def test_hostile_names_survive_edits_and_the_download(
    placement: Placement, reports: Reports, tmp_path: Path
) -> None:
    report, job, rng = reports(placement), Edited.of(placement), np.random.default_rng(1)
    report.page.locator("#graph").scroll_into_view_if_needed()
    for kind in ("drag", "arrows", "mips", "rate", "bandwidth", "drag"):
        edit(report, job, kind, rng)
        agrees(report.score(), simulate(job.placement()))
    saved = read_placement(report.download(tmp_path / "edited.json"))
    assert saved.problem.graph == placement.problem.graph
    assert saved.problem.constraints == placement.problem.constraints
    assert assignment_of(saved.assignment, saved) == job.assignment
    agrees(report.score(), simulate(saved))


def report_scripts() -> tuple[str, ...]:
    """Return what runs in a page."""
    from streamplace.report.html import SCRIPTS, VENDORED  # noqa: PLC0415

    return VENDORED + SCRIPTS
