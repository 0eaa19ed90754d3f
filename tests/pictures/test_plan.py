"""Pictures of plans."""

from pathlib import Path

from streamplace.capacity.plan.result import Plan, PlanRow
from streamplace.pictures.plan import draw_plan
from streamplace.problem.objective import MAX_RATE


def test_a_plan_without_enough_devices(tmp_path: Path) -> None:
    draw_plan(tmp_path / "x.svg", Plan(1e4, (PlanRow(1, 10.0, 20.0, 0.001),)))
    drawn = (tmp_path / "x.svg").read_text()
    assert "none found up to 1 device that keeps up with 10,000 tuples/s" in drawn
    assert "fewest" not in drawn
    assert "above the offered" not in drawn


def test_the_chosen_number_and_its_headroom_are_named(tmp_path: Path) -> None:
    rows = (PlanRow(1, 6e5, 7e5, 0.6), PlanRow(2, 1.25e6, MAX_RATE, 1.0))
    draw_plan(tmp_path / "x.svg", Plan(1e6, rows))
    drawn = (tmp_path / "x.svg").read_text()
    assert "<!-- 25% above the offered rate -->" in drawn
    assert "<!-- 2 devices keep up with 1e+06 tuples/s" in drawn
    assert "<!-- 1,000,000 -->" in drawn, "a tick"
    assert "e+18" not in drawn, "a rate without a bound is not drawn"
