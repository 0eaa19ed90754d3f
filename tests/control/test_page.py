"""The timeline of a controller and its page."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from streamplace.control.decisions import ACTIONS, WINDOWS, Action, Decision, Point, State, Timeline
from streamplace.control.observation import Observation, Reading
from streamplace.control.page import WORDS, brief, page_html, write_page
from streamplace.control.plans import Deployment, Plan
from streamplace.control.settings import ControllerSettings
from streamplace.errors import FormatError

SETTINGS = ControllerSettings()
PLAN = Plan(Deployment({"decode": ("a", "b")}), 10.0, 20.0, 9.0, 2.0, 1.0)


def decision(
    at_s: float,
    action: Action = Action.NOTHING,
    why: str = "why",
    plan: Plan | None = None,
) -> Decision:
    return Decision(at_s, State.STEADY, action, why, plan)


def window(at_s: float, offered_s: float | None = 5.0, busy: float = 0.6) -> Observation:
    readings = {"decode": Reading(5.0, busy, busy, 0.0, 1)}
    hosts = {"decode": ("a",)}
    return Observation(at_s, 300.0, 0.0, readings, offered_s, 0.0, frozenset("a"), hosts)


def point(at_s: float, made: Decision | None = None, offered_s: float | None = 5.0) -> Point:
    return Point.of(window(at_s, offered_s), made or decision(at_s))


def test_points_hold_what_was_measured() -> None:
    found = Point.of(window(300.0, None, 0.7), decision(300.0))
    assert (found.offered_s, found.busiest, found.instances) == (None, 0.7, {"decode": 1})
    blind = Observation(300.0, 300.0, 0.0, {}, None, None, frozenset(), {}, ("everything",))
    assert Point.of(blind, decision(300.0)).busiest is None


def test_equal_decisions_in_a_row_are_listed_once() -> None:
    timeline = Timeline()
    for i in range(5):
        timeline.add(point(300.0 * i))
    acted = decision(1500.0, Action.ACT, "more", plan=PLAN)
    timeline.add(point(1500.0, acted))
    timeline.add(point(1800.0))
    assert [shown.decision.at_s for shown in timeline.decided()] == [1800.0, 1500.0, 1200.0]


def test_a_refused_action_is_shown_as_refused() -> None:
    timeline = Timeline()
    timeline.add(point(0.0))
    timeline.add(point(300.0, decision(300.0, Action.ACT, "more", plan=PLAN)))
    timeline.add(point(300.0, decision(300.0, Action.REFUSED, "refused: no slot", plan=PLAN)))
    text = page_html("job", "apply", timeline, SETTINGS)
    assert len(timeline.points) == 2
    assert '<tr class="refused">' in text
    assert "refused: no slot" in text
    assert "act: more" not in text


def test_old_windows_are_dropped_but_their_actions_are_kept() -> None:
    timeline = Timeline()
    timeline.add(point(0.0, decision(0.0, Action.ACT, "more", plan=PLAN)))
    for i in range(1, WINDOWS + 10):
        timeline.add(point(300.0 * i))
    assert len(timeline.points) == WINDOWS
    assert [shown.decision.at_s for shown in timeline.earlier] == [0.0]
    assert [shown.decision.action for shown in timeline.decided()] == [Action.NOTHING, Action.ACT]
    for i in range(WINDOWS + 2 * ACTIONS):
        timeline.add(point(1e6 + i, decision(1e6 + i, Action.ADVISE, plan=PLAN)))
    assert len(timeline.earlier) == ACTIONS


@pytest.mark.parametrize("unknown", [False, True])
def test_page_of_one_window(unknown: bool) -> None:
    timeline = Timeline()
    timeline.add(point(1.79e9, offered_s=None if unknown else 5.0))
    text = page_html("job 0a1b", "advise", timeline, SETTINGS)
    assert "It changes nothing" in text
    assert "2026-09-21 14:13:20" in text
    assert '<meta http-equiv="refresh" content="300">' in text


def test_a_page_that_has_ended_is_not_loaded_again() -> None:
    timeline = Timeline()
    timeline.add(point(0.0))
    text = page_html("job", "apply", timeline, SETTINGS, ended=True)
    assert 'http-equiv="refresh"' not in text
    assert "no longer watched" in text


def test_rescales_state_what_changes_and_why_in_few_words() -> None:
    timeline = Timeline()
    timeline.add(point(0.0, decision(0.0, Action.ACT, "why " * 40, plan=PLAN)))
    timeline.add(point(300.0, decision(300.0, Action.REFUSED, "refused: " + "no " * 40, PLAN)))
    text = page_html("orders", "apply", timeline, SETTINGS)
    assert text.count("decode 1 → 2") == 2
    assert "<td>steady, busiest instance 60%" in text
    for shown in timeline.points:
        assert 0 < len(brief(shown).split()) <= WORDS


def test_the_page_states_what_is_carried_and_the_instances() -> None:
    timeline = Timeline()
    timeline.add(Point.of(replace(window(0.0), read_s=3.0, waiting=7.0), decision(0.0)))
    text = page_html("orders", "advise", timeline, SETTINGS)
    assert "<dt>carried<dd>3 tuples/s</div>" in text
    assert "<dt>waiting<dd>7 tuples</div>" in text
    assert "<td>decode<td>1<td>1</tr>" in text


def test_what_piles_up_in_buffers_is_not_carried() -> None:
    """The sources read all 5 tuples/s, of which "decode" processes a fifth."""
    full = replace(window(0.0), read_s=5.0)
    decode = replace(full.readings["decode"], tuples_s=1.0, arriving_s=5.0)
    found = Point.of(replace(full, readings={"decode": decode}), decision(0.0))
    assert brief(found).endswith("1 tuples/s of 5 tuples/s carried")


def test_a_plan_that_does_not_carry_all_says_what_it_carries() -> None:
    window_of_30 = replace(window(0.0, offered_s=30.0), read_s=5.0)
    found = Point.of(window_of_30, decision(0.0, Action.ACT, plan=PLAN))
    assert brief(found).endswith("5 tuples/s of 30 tuples/s carried, then 20 tuples/s")


def test_names_and_reasons_cannot_become_markup() -> None:
    timeline = Timeline()
    timeline.add(point(0.0, decision(0.0, Action.ACT, "<script>alert(1)</script>", plan=PLAN)))
    text = page_html("<b>job</b>", "apply", timeline, SETTINGS)
    assert "<script" not in text
    assert "<b>" not in text
    assert "It changes the job." in text


def test_page_loads_nothing() -> None:
    timeline = Timeline()
    timeline.add(point(0.0))
    text = page_html("job", "advise", timeline, SETTINGS)
    loaded = re.findall(r'(?:src|href)="([^"#]*)', text)
    assert not [address for address in loaded if address]


def test_each_action_is_marked_once(tmp_path: Path) -> None:
    timeline = Timeline()
    advised = [decision(300.0 * i, Action.ADVISE, "more", plan=PLAN) for i in range(4)]
    for made in advised:
        timeline.add(point(made.at_s, made))
    write_page(tmp_path / "one.html", "job", "advise", timeline, SETTINGS)
    several = (tmp_path / "one.html").read_text()
    single = Timeline()
    single.add(point(0.0, advised[0]))
    for i in range(1, 4):
        single.add(point(300.0 * i))
    assert several.count('<g id="line2d_') == page_html("job", "advise", single, SETTINGS).count(
        '<g id="line2d_'
    )


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    timeline = Timeline()
    timeline.add(point(0.0))
    with pytest.raises(FormatError, match="no-folder"):
        write_page(tmp_path / "no-folder" / "page.html", "job", "advise", timeline, SETTINGS)
