"""Pictures of training runs."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from streamplace.errors import FormatError
from streamplace.files.training_logs import LARGEST, LOG, Log, read_log
from streamplace.pictures.curves import curve, draw_curves, moving_mean, moving_means

STEPS: Log = [
    {"step": 1.0, "reward": -3.0},
    {"step": 2.0, "reward": -1.0, "validation": -2.0},
    {"step": 3.0},
]


def written(folder: Path, text: str) -> Path:
    (folder / LOG).write_text(text, encoding="utf-8")
    return folder


def test_quantities_of_a_log_over_steps() -> None:
    steps, rewards = curve(STEPS, "reward")
    assert (steps.tolist(), rewards.tolist()) == ([1, 2], [-3, -1])
    assert [part.tolist() for part in curve(STEPS, "validation")] == [[2], [-2]]
    assert [len(part) for part in curve(STEPS, "loss")] == [0, 0]


def test_smoothed_by_hand() -> None:
    values = np.array([1.0, 2.0, 6.0, 3.0])
    assert moving_mean(values, 1).tolist() == values.tolist()
    assert moving_mean(values, 3).tolist() == pytest.approx([1.5, 3.0, 11 / 3, 4.5])


def test_no_line_crosses_a_stage_without_the_quantity() -> None:
    log: Log = [
        {"step": 1.0},
        {"step": 2.0},
        {"step": 3.0, "best": 4.0},
        {"step": 4.0, "best": 5.0},
    ]
    log += [{"step": 5.0}, {"step": 6.0, "best": 6.0}]
    steps, values = moving_means(log, "best")
    assert np.array_equal(steps, [3, 4, np.nan, 6], equal_nan=True)
    assert np.array_equal(values, [4, 5, np.nan, 6], equal_nan=True)
    steps, values = moving_means(log, "best", since=True)
    assert np.array_equal(steps, [2, 3, 4, np.nan, 5, 6], equal_nan=True)
    assert np.array_equal(values, [4, 4, 5, np.nan, 6, 6], equal_nan=True)
    assert moving_means(log[2:], "best", since=True)[0][0] == 0.0
    assert [len(part) for part in moving_means(log, "reward")] == [0, 0]


@pytest.mark.parametrize("incomplete", ["", '{"step": 4, "rew', '{"step": 4}', "\x00\x00"])
def test_an_incomplete_last_line_is_ignored(incomplete: str, tmp_path: Path) -> None:
    lines = "".join(json.dumps(step) + "\n" for step in STEPS)
    assert read_log(written(tmp_path, lines + incomplete)) == STEPS


def test_files_that_are_not_logs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"no log.jsonl: no training run has started"):
        read_log(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(FormatError, match=r"is a file; expected the folder of a training run"):
        read_log(tmp_path / "file")
    (tmp_path / "run").mkdir()
    log = written(tmp_path / "run", "") / LOG
    with pytest.raises(FormatError, match=f"folder of a training run, {log.parent}$"):
        read_log(log)
    with pytest.raises(FormatError, match=r"nowhere: no such folder$"):
        read_log(tmp_path / "nowhere")
    with pytest.raises(FormatError, match=r"/runs: no such folder; did you mean '.*/run'\?$"):
        read_log(tmp_path / "runs")
    with pytest.raises(FormatError, match="File name too long"):
        read_log(tmp_path / ("n" * 300))
    for bad in ("no json", "[1]", '{"step": "1"}', '{"reward": 1}', '{"step": NaN}'):
        with pytest.raises(FormatError, match="line 1: not a step of a training run"):
            read_log(written(tmp_path, bad + '\n{"step": 2}\n'))


@pytest.mark.parametrize("line", ["[]", "garbage", '{"a": 1}', "{}"])
def test_a_complete_last_line_that_is_not_a_step_is_refused(line: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"log\.jsonl: line 2: not a step of a training run"):
        read_log(written(tmp_path, f'{{"step": 1}}\n{line}\n'))


@pytest.mark.parametrize("value", ["1e308", "-1e308"])
def test_values_too_large_to_be_drawn_are_refused(value: str, tmp_path: Path) -> None:
    lines = f'{{"step": 1, "loss": 1e300}}\n{{"step": 2, "loss": {value}}}\n'
    with pytest.raises(FormatError, match=r"log\.jsonl: line 2: 'loss': must be -1e\+300 to"):
        read_log(written(tmp_path, lines))


def test_the_largest_values_can_be_drawn(tmp_path: Path) -> None:
    steps: Log = [{"step": 1.0, "loss": LARGEST}, {"step": LARGEST, "loss": -LARGEST}]
    draw_curves(tmp_path / "x.svg", {"run": steps * 100})
    assert (tmp_path / "x.svg").stat().st_size > 0


@pytest.mark.parametrize("logs", [{"new": []}, {"a": STEPS, "_$b$": STEPS[:1], "c": []}])
def test_runs_with_few_or_no_steps(logs: dict[str, Log], tmp_path: Path) -> None:
    draw_curves(tmp_path / "x.svg", logs)
    text = (tmp_path / "x.svg").read_text()
    assert ("no steps yet" in text) == ("new" in logs)
    assert ("_$b$" in text) == ("_$b$" in logs)


def test_placers_and_the_best_known_are_named_beside_the_policy(tmp_path: Path) -> None:
    beside = {"best": -0.5, "validation_metis": -1.0, "validation_search": -0.2}
    logs = {name: [step | beside for step in STEPS] for name in ("a", "b")}
    draw_curves(tmp_path / "x.svg", logs)
    text = (tmp_path / "x.svg").read_text()
    names = ("best known", "metis", "search", "heft")
    assert [text.count(f"<!-- {name} -->") for name in names] == [1, 1, 1, 0]


def test_training_logs_are_drawn_without_kernels() -> None:
    program = "import sys, streamplace.pictures.curves; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"False"
