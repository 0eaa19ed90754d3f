"""Stages with a penalty for memory, and what they cannot be combined with."""

import pytest
from pydantic import ValidationError

from streamplace.errors import FormatError
from streamplace.learning.training import read_config
from streamplace.learning.training.config import with_values
from streamplace.papers.placeto.stage import PlacetoStage
from tests.support.step_stages import stage


def test_no_penalty_for_memory_where_times_are_measured() -> None:
    with pytest.raises(ValidationError, match="memory_penalty: running times are measured"):
        PlacetoStage.of(stage(algorithm="placeto", measurements=20, memory_penalty=1.0))


def test_no_penalty_for_memory_under_throughput() -> None:
    changes = {"stage[0].memory_penalty": 1.0}
    with pytest.raises(FormatError, match=r"stage\[0\].memory_penalty: only a pass has outputs"):
        with_values(read_config("placeto-stream"), changes)
    (own,) = with_values(read_config("placeto"), changes).stage
    assert own.model_dump()["memory_penalty"] == 1.0
