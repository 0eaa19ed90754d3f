"""Absurd settings: no file of a run ever contains NaN or infinity."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.reference.trainings import config, graphs, of_kind, resumed
from streamplace.errors import StreamplaceError, TrainingError
from streamplace.files.training_logs import CHECKPOINT, POLICY
from streamplace.learning.training import train
from streamplace.learning.training.learner import BAD_STEPS
from tests.support.training_runs import check_finite

CLIPPED = {"rate": 1e30, "final_rate": 1e30, "largest_gradient": 1.0}
ABSURD: dict[str, dict[str, Any]] = {
    "rate 1e5": {"optimiser": {"rate": 1e5, "final_rate": 1e5}},
    "rate 1e30": {"optimiser": {"rate": 1e30, "final_rate": 1e30}},
    "rate 1e30, clipped": {"optimiser": CLIPPED},
    "entropy": {"stage": {"entropy": 1e300}},
}


KINDS = ["device-scorer", "encoder-decoder"]


@pytest.mark.parametrize("absurd", ABSURD)
@pytest.mark.parametrize("kind", KINDS)
def test_absurd_configs_end_in_an_error_or_in_finite_weights(
    kind: str, absurd: str, tmp_path: Path
) -> None:
    cfg = config(of_kind(kind), **ABSURD[absurd], run={"checkpoint_every": 1})
    folder = tmp_path / "run"
    try:
        train(graphs(), cfg, folder)
    except TrainingError:
        pass
    except StreamplaceError:  # refused before training starts
        assert not folder.exists()
        return
    check_finite(folder)
    if (folder / CHECKPOINT).exists():
        with resumed(cfg, folder) as run:
            assert run.loop.position.step > 0


def test_weights_too_large_for_16_bits_are_not_written(tmp_path: Path) -> None:
    cfg = config(optimiser={"rate": 1e5, "final_rate": 1e5}, run={"half": True})
    with pytest.raises(TrainingError, match="is not finite in 16 bits"):
        train(graphs(), cfg, tmp_path / "run")
    assert not (tmp_path / "run" / POLICY).exists()


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_that_stay_bad_end_the_run(kind: str, tmp_path: Path) -> None:
    """The run ends after BAD_STEPS bad steps, and its checkpoint is valid."""
    cfg = config(
        of_kind(kind),
        stage={"epochs": 20},
        optimiser={"rate": 1e30, "final_rate": 1e30},
        run={"checkpoint_every": 1},
    )
    with pytest.raises(TrainingError, match=f"{BAD_STEPS} gradients") as failed:
        train(graphs(), cfg, tmp_path / "run")
    assert failed.value.exit_code == 1
    with resumed(cfg, tmp_path / "run") as run:
        assert BAD_STEPS - 1 <= run.loop.position.step < 2 * BAD_STEPS
    check_finite(tmp_path / "run")


def test_a_teacher_is_imitated_whatever_its_rewards(tmp_path: Path) -> None:
    """The threshold applies only to placements that the policy itself finds."""
    cfg = config(memory={"threshold": 2.0}, teacher={"placer": "greedy", "epochs": 1})
    train(graphs(), cfg, tmp_path / "run")
    check_finite(tmp_path / "run")
    first = json.loads((tmp_path / "run" / "log.jsonl").read_text().splitlines()[0])
    assert first["epoch"] == 0
    assert first["loss"] > 0
