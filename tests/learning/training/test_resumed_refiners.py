"""Resumed runs of policies that refine placements equal uninterrupted runs to the last bit."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.reference.trainings import config, graphs, of_kind
from streamplace.learning.policy.registry import policy_kind
from streamplace.learning.training import read_config, train
from streamplace.learning.training.config import config_names
from tests.support.long import long_after
from tests.support.training_runs import check_same, ctrl_c_at

BASELINES = ("episodes", "samples", "steps", "earlier-steps", "none")
CONFIGS = [name for name in config_names() if policy_kind(read_config(name).policy.kind).refines]


@pytest.mark.parametrize("evaluate_every", [0, 2])
@pytest.mark.parametrize("baseline", long_after(2, BASELINES))
def test_every_baseline(baseline: str, evaluate_every: int, tmp_path: Path) -> None:
    check_interruptions(tmp_path, of_kind("placeto"), baseline, evaluate_every)


def check_interruptions(
    folder: Path, sections: dict[str, dict[str, Any]], baseline: str, evaluate_every: int
) -> None:
    """Interrupt a run after every step, and compare it with an uninterrupted one."""
    cfg = config(sections)
    (stage,) = cfg.stage
    changed = stage.model_copy(update={"baseline": baseline, "evaluate_every": evaluate_every})
    cfg = cfg.model_copy(update={"stage": [changed]})
    steps = train(graphs(), cfg, folder / "uninterrupted").steps
    for step in range(1, steps):
        run = train(graphs(), cfg, folder / "run", resume=step > 1, on_step=ctrl_c_at(step))
        assert (run.steps, run.interrupted) == (step, True)
    train(graphs(), cfg, folder / "run", resume=True)
    check_same(folder / "run", folder / "uninterrupted")


@pytest.mark.parametrize("name", CONFIGS)
def test_every_shipped_config(name: str, tmp_path: Path) -> None:
    """A run is interrupted after its first step, and resumed."""
    cfg = read_config(name)
    cfg = cfg.model_copy(update={"run": cfg.run.model_copy(update={"held_out": 1})})
    for step in (1, 2):
        run = train(graphs(), cfg, tmp_path, resume=step > 1, on_step=ctrl_c_at(step))
        assert (run.steps, run.interrupted) == (step, True)
