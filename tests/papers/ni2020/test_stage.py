"""The stage of the released training."""

import pytest
from pydantic import ValidationError

from streamplace.learning.training import read_config
from streamplace.papers.ni2020.stage import ReplayStage


def test_the_config_has_its_defaults() -> None:
    (stage,) = read_config("released").stage
    assert isinstance(stage, ReplayStage)
    plain = ReplayStage(algorithm="reinforce-replay", epochs=stage.epochs)
    assert stage == plain.model_copy(update={"optimiser": stage.optimiser})


@pytest.mark.parametrize("key", ["samples", "replayed", "raise_by", "random_decay"])
def test_numbers_that_must_not_be_0(key: str) -> None:
    with pytest.raises(ValidationError, match=key):
        ReplayStage.model_validate({"algorithm": "reinforce-replay", "epochs": 1, key: 0})
