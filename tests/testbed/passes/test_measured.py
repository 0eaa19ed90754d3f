"""The testbed as the measure of a training, on machines that can run it."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from benchmarks.testbed import facilities, leftovers, ownership
from benchmarks.testbed.interruptions import host_links, remains
from benchmarks.testbed.passes.measured import Measured
from benchmarks.testbed.passes.scaling import scale_pass
from streamplace import Recipe
from streamplace.errors import UsageError
from streamplace.files import write_dataset, write_json
from streamplace.learning.training.measuring.measure import opened
from streamplace.learning.training.measuring.measurement_log import MEASUREMENTS
from tests.support.cli import CPU_ENVIRONMENT
from tests.support.passes import small_problem
from tests.support.paths import ROOT

LIMIT_S = 300
NAME = "benchmarks.testbed.passes.measured:Measured"
SHORT = f"{NAME}:repeats=1:mean_s=0.01"
SPREAD = np.array([[0, 1, 2, 0, 1, 2]], np.int32)
BUDGET = 16
SMALL = {"length": 4, "rounds": 1, "hidden": 4}
STAGE = {"algorithm": "reinforce", "samples": 2, "reward": "log-loss"}
CONFIG = {
    "policy": {"kind": "doppler", "sizes": SMALL},
    "problems": [{"devices": ["3x2500"], "objective": "makespan"}],
    "stage": [STAGE | {"epochs": 2}, STAGE | {"epochs": 200, "measurements": BUDGET}],
    "run": {"threads": 1},
}
ENDS = {signal.SIGINT: {130}, signal.SIGTERM: {130}, signal.SIGHUP: {1, 129}, None: {0}}
"""Signals, and the exit codes that follow; SIGHUP fails a measurement that it hits."""
lacking = facilities.lacking()
needs_a_machine = pytest.mark.skipif(bool(lacking), reason=f"testbed: {', '.join(lacking)}")


@needs_a_machine
def test_problems_take_turns_and_closing_leaves_nothing() -> None:
    pair, egress = small_problem("pair"), small_problem("egress")
    handler = signal.getsignal(signal.SIGTERM)
    with opened(SHORT) as named:
        for problem in (pair, egress, egress):
            (seconds,) = named.measure(problem, SPREAD)
            own = scale_pass(problem).seconds / scale_pass(problem).factor
            assert seconds >= max(own[range(6), SPREAD[0]])
        assert leftovers.everything().get(ownership.own_prefix(), []) != []
    assert leftovers.everything().get(ownership.own_prefix(), []) == []
    assert signal.getsignal(signal.SIGTERM) == handler


@needs_a_machine
def test_an_unsuitable_problem_is_refused_and_leaves_nothing() -> None:
    measured, suitable = Measured(repeats=1, mean_s=0.01), small_problem()
    measured(suitable, SPREAD)
    with pytest.raises(facilities.TestbedError, match="its network is nic"):
        measured(small_problem("nic"), SPREAD)
    assert measured(suitable, SPREAD).shape == (1,)
    measured.close()
    assert leftovers.everything().get(ownership.own_prefix(), []) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("repeats=0", r"repeats must be at least 1 \(got 0\)"),
        ("mean_s=0", r"mean_s must be a finite number above 0 \(got 0\)"),
        ("mean_s=-0.01", r"above 0 \(got -0.01\)"),
        ("mean_s=nan", r"above 0 \(got nan\)"),
        ("mean_s=inf", r"above 0 \(got inf\)"),
    ],
)
def test_wrong_options_are_refused_before_training(options: str, message: str) -> None:
    refused = pytest.raises(UsageError, match=message)
    with refused, opened(f"{NAME}:{options}"):
        pass


def test_a_machine_without_programs_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facilities, "lacking", lambda: ["no ip (iproute2)"])
    message = f"measure '{NAME}': the testbed cannot run here: no ip"
    with pytest.raises(UsageError, match=message), opened(NAME):
        pass


@needs_a_machine
@pytest.mark.long
def test_an_interrupted_training_leaves_nothing_and_measures_nothing_twice(tmp_path: Path) -> None:
    """Three signals, one after another, while placements are measured; then the run ends."""
    write_dataset(tmp_path / "graphs.jsonl", [Recipe("layered", 1, range(6, 7), 1).graph(0)])
    write_json(tmp_path / "config.json", CONFIG)
    words = ["train", "graphs.jsonl", "--config", "config.json", "-o", "run", "-q"]
    command = [sys.executable, "-m", "streamplace.cli.main", *words, "--measure"]
    log, links = tmp_path / "run" / MEASUREMENTS, host_links()
    for number, codes in ENDS.items():
        before = _lines(log)
        resume = ["--resume"] if (tmp_path / "run/checkpoint.safetensors").exists() else []
        environment = {**CPU_ENVIRONMENT, "PYTHONPATH": str(ROOT)}
        run = subprocess.Popen([*command, SHORT, *resume], cwd=tmp_path, env=environment)
        try:
            while number is not None and run.poll() is None and _lines(log) <= before:
                time.sleep(0.05)
            if number is not None:
                run.send_signal(number)
            assert run.wait(LIMIT_S) in codes
        finally:
            run.terminate()
        assert remains(run.pid, links) == []
    _, *rows = map(json.loads, log.read_text().splitlines())
    assert len(rows) == len({tuple(row["devices"]) for row in rows}) == BUDGET


def _lines(path: Path) -> int:
    return path.read_text().count("\n") if path.exists() else 0
