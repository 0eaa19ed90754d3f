"""Stages of HSDAG: its rewards, which other stages do not have."""

import pytest
from pydantic import ValidationError

from streamplace.learning.training.stages import Stage
from streamplace.papers.hsdag.stage import HsdagStage
from tests.support.step_stages import stage


def test_its_rewards_are_refused_elsewhere() -> None:
    keys = stage(step_reward="above-start")
    with pytest.raises(ValidationError, match="step_reward"):
        Stage.of(keys)
    made = HsdagStage.of(keys | {"algorithm": "hsdag"})
    assert (made.step_reward, made.returns, made.optimiser_steps) == ("above-start", "to-go", 1)


def test_changed_keys_are_checked() -> None:
    made = HsdagStage.of(stage(algorithm="hsdag"))
    assert made.changed(optimiser_steps=4).optimiser_steps == 4
    with pytest.raises(ValidationError, match="optimiser_steps"):
        made.changed(optimiser_steps=0)
