"""Pictures of plans."""

from pathlib import Path

from streamplace.capacity.plan.result import Plan, PlanRow
from streamplace.pictures.plan import draw_plan


def test_a_plan_without_enough_devices(tmp_path: Path) -> None:
    draw_plan(tmp_path / "x.svg", Plan(1e4, (PlanRow(1, 10.0, 20.0, 0.001),)))
    assert "keep up" not in (tmp_path / "x.svg").read_text()
