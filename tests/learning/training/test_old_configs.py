"""Configs and runs of streamplace 0.2, which had no stages: conversion, training and resuming."""

import json
import logging
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from benchmarks.reference.trainings import config, graphs
from streamplace.errors import CheckpointError, FormatError
from streamplace.files.training_logs import CHECKPOINT
from streamplace.learning.training import TrainConfig, read_config, train
from streamplace.learning.training.config import is_old, with_stages, with_values
from streamplace.learning.training.run_files import identity_of, present_form
from streamplace.learning.training.stages import forms
from tests.support.old_runs import OLD, TAUGHT, dumped, make_old
from tests.support.training_runs import STEPS_PER_EPOCH, check_same, ctrl_c_at

TEACHER = {"placer": "greedy", "epochs": 1}

with_and_without_teacher = pytest.mark.parametrize(
    "taught", [False, True], ids=["no teacher", "teacher"]
)


def converted(taught: bool) -> TrainConfig:
    """Return the config with stages that is equivalent to the old one."""
    return config(teacher=TEACHER) if taught else config()


def read(text: str, folder: Path) -> TrainConfig:
    """Read a config from a file."""
    (folder / "config.toml").write_text(text)
    return read_config(str(folder / "config.toml"))


@with_and_without_teacher
def test_an_old_config_is_converted_to_stages(taught: bool, tmp_path: Path) -> None:
    assert read(OLD + TAUGHT * taught, tmp_path) == converted(taught)


@with_and_without_teacher
def test_the_config_of_an_old_run_is_converted_to_stages(taught: bool, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(dumped(taught)))
    assert read_config(str(tmp_path / "config.json")) == converted(taught)


@with_and_without_teacher
def test_both_formats_train_the_same_parameters(taught: bool, tmp_path: Path) -> None:
    hashes = {
        train(graphs(), cfg, tmp_path / name).parameter_hash
        for name, cfg in (
            ("old", read(OLD + TAUGHT * taught, tmp_path)),
            ("new", converted(taught)),
        )
    }
    assert len(hashes) == 1


def test_a_teacher_without_epochs_is_kept(tmp_path: Path) -> None:
    found = read(OLD + TAUGHT.replace("epochs = 1", "epochs = 0"), tmp_path)
    assert found == config(teacher={"placer": "greedy", "epochs": 0})


def test_old_settings_move_to_the_right_stage() -> None:
    value = {
        "sampling": {"epochs": 3, "samples": 5, "reward": "log", "problems_per_step": 4},
        "memory": {"size": 7},
        "teacher": {"placer": "greedy", "epochs": 2},
        "optimiser": {"rate": 0.5, "entropy": 0.1, "per_decision": True},
        "run": {"seed": 1},
    }
    assert with_stages(value) == {
        "run": {"seed": 1},
        "stage": [
            {
                "algorithm": "imitation",
                "teacher": "greedy",
                "epochs": 2,
                "reward": "log",
                "problems_per_step": 4,
                "optimiser": {"rate": 0.5},
            },
            {
                "algorithm": "reinforce",
                "epochs": 3,
                "samples": 5,
                "reward": "log",
                "problems_per_step": 4,
                "entropy": 0.1,
                "per_decision": True,
                "memory": {"size": 7, "threshold": 0.8},
            },
        ],
    }


@pytest.mark.parametrize("value", [{}, {"policy": {}}, {"stage": [], "memory": {}}])
def test_a_current_config_is_not_converted(value: dict[str, Any]) -> None:
    assert not is_old(value)
    assert with_stages(value) is value


def test_a_warning_names_the_file_and_the_tables(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        read(OLD, tmp_path)
    (message,) = caplog.messages
    tables = "[sampling], [memory], [optimiser]"
    conversion = f"converted {tables} to [[stage]], the format since 0.3"
    assert message == f"{tmp_path / 'config.toml'}: {conversion}"


def test_the_current_format_is_read_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    read_config("best")
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("samples = 3", "sample = 3", "sampling: unknown field 'sample'"),
        ("size = 2", "size = -2", "memory.size: must be at least 0"),
        ("normalise = true", "rate = 0.0", "optimiser.rate: must be greater than 0"),
        ("entropy = 0.01", "entropy = nan", "optimiser.entropy: must be a finite number"),
    ],
)
def test_a_message_names_the_old_field_and_the_new_format(
    old: str, new: str, fault: str, tmp_path: Path
) -> None:
    with pytest.raises(FormatError) as refused:
        read(OLD.replace(old, new, 1), tmp_path)
    message = str(refused.value)
    assert message.startswith(f"{tmp_path / 'config.toml'}: {fault}")
    tables = "[sampling], [memory], [optimiser]"
    assert message.endswith(f"; convert {tables} to [[stage]], as in the config 'best'")


def test_another_file_with_a_field_of_that_name_is_not_converted(tmp_path: Path) -> None:
    """The result of several jobs has the memory of devices."""
    file = tmp_path / "result.json"
    file.write_text('{"jobs": [], "assignment": {}, "placer": "auto", "memory": []}')
    with pytest.raises(FormatError, match=r"expected a training configuration$"):
        read_config(str(file))


def test_a_value_instead_of_a_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"convert \[memory\] to \[\[stage\]\]"):
        read('memory = 3\n[policy]\nkind = "device-scorer"\n', tmp_path)


@with_and_without_teacher
@pytest.mark.parametrize("stop", [1, STEPS_PER_EPOCH, STEPS_PER_EPOCH + 1])
def test_an_old_run_resumes(taught: bool, stop: int, tmp_path: Path) -> None:
    """An old checkpoint contains neither stages nor the step at which a schedule began."""
    cfg = converted(taught)
    train(graphs(), cfg, tmp_path / "uninterrupted")
    train(graphs(), cfg, tmp_path / "run", on_step=ctrl_c_at(stop))
    make_old(tmp_path / "run" / CHECKPOINT, taught)
    train(graphs(), cfg, tmp_path / "run", resume=True)
    check_same(tmp_path / "run", tmp_path / "uninterrupted")


def test_an_old_run_does_not_resume_with_another_config(tmp_path: Path) -> None:
    train(graphs(), config(), tmp_path / "run", on_step=ctrl_c_at(2))
    make_old(tmp_path / "run" / CHECKPOINT, taught=False)
    with pytest.raises(
        CheckpointError, match=r"config\.stage\[0\]\.samples: 3 in the checkpoint, 4 now"
    ):
        train(graphs(), config(stage={"samples": 4}), tmp_path / "run", resume=True)


def test_an_unknown_setting_of_a_teacher_is_refused(tmp_path: Path) -> None:
    setting = '\n[teacher]\nplacer = "greedy"\nepoch = 0\n'
    with pytest.raises(FormatError, match=r": teacher: unknown field 'epoch'"):
        read(OLD + setting, tmp_path)
    with pytest.raises(FormatError, match=r": teacher: missing field 'placer'"):
        read(OLD + setting.replace('placer = "greedy"', ""), tmp_path)
    with pytest.raises(FormatError, match=r": optimiser\.rate: must be greater than 0"):
        read(OLD.replace("[optimiser]", "[optimiser]\nrate = -1.0") + TAUGHT, tmp_path)


def test_a_run_resumes_whose_stage_has_another_algorithm_now() -> None:
    now = identity_of(with_values(read_config("hsdag"), {"stage[0].optimiser_steps": 4}))
    before = deepcopy(now)
    (stage,) = before["stage"]
    fields = {key: each for form in forms().values() for key, each in form.model_fields.items()}
    moved = ("discounts_gradient", "memory_penalty", "memory_limit_gb", "reversed_rewards")
    stage |= {"algorithm": "reinforce-steps"} | {key: fields[key].default for key in moved}
    assert present_form({"config": before}) == {"config": now}
    del stage["returns"]  # which is at its default
    assert present_form({"config": before}) == {"config": now}
