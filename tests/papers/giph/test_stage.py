"""Stages of GiPH, also in configs of versions that had their keys in `reinforce-steps`."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from streamplace.errors import FormatError
from streamplace.learning.training import read_config
from streamplace.papers.giph.stage import GiphStage

BEFORE = {"returns": "to-go", "memory_penalty": 0.0, "optimiser_steps": 1}
"""Keys of other algorithms that `reinforce-steps` had, at their defaults."""


def read(folder: Path, **keys: Any) -> Any:
    """Return the stage of a run's config as version 0.4 wrote it, with some keys."""
    value = read_config("giph").model_dump(mode="json")
    stage = value["stage"][0] | {"algorithm": "reinforce-steps"} | BEFORE | keys
    file = folder / "config.json"
    file.write_text(json.dumps(value | {"stage": [stage]}))
    return read_config(str(file)).stage[0]


def test_a_stage_with_its_keys_gets_its_algorithm(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        stage = read(tmp_path)
    assert stage == read_config("giph").stage[0]
    assert isinstance(stage, GiphStage)
    (record,) = caplog.records
    assert "stage[0]: the algorithm is 'giph', to which its keys belong" in record.getMessage()


def test_other_stages_keep_their_algorithm(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        stage = read(tmp_path, discounts_gradient=False, baseline="none")
    assert stage.algorithm == "reinforce-steps"
    assert not caplog.records


def test_keys_that_no_algorithm_has_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"stage\[0\]: unknown field 'discount_gradient'"):
        read(tmp_path, discounts_gradient=False, baseline="none", discount_gradient=True)


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        (
            {"memory_penalty": 1.0},
            "'baseline' of 'giph', 'discounts_gradient' of 'giph', 'memory_penalty' of 'placeto'",
        ),
        (
            {"baseline": "none", "discounts_gradient": False, "memory_penalty": 1.0}
            | {"returns": "episode", "epochs": "x"},
            "'memory_penalty' of 'placeto', 'returns' of 'hsdag'",
        ),
    ],
)
def test_a_stage_of_two_systems_is_refused(
    keys: dict[str, Any], shown: str, tmp_path: Path
) -> None:
    with pytest.raises(FormatError) as error:
        read(tmp_path, **keys)
    fault = f"stage[0]: has settings of several algorithms: {shown}; keep those of one"
    assert str(error.value) == f"{tmp_path / 'config.json'}: {fault}"


@pytest.mark.parametrize(
    "keys",
    [
        {"epochs": "x"},
        {"epochs": "x", "baseline": "none", "discounts_gradient": False, "memory_penalty": 1.0},
    ],
)
def test_only_what_is_wrong_is_refused(keys: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(FormatError) as error:
        read(tmp_path, **keys)
    fault = "stage[0].epochs: must be a whole number (got 'x')"
    assert str(error.value) == f"{tmp_path / 'config.json'}: {fault}"
