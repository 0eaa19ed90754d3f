"""Every target under atheris for a moment, if it is installed."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.hardening import readers
from tests.hardening.every_target import TARGETS
from tests.hardening.inputs import document_of, input_of, names_of
from tests.support.cli import ENVIRONMENT
from tests.support.part import Part

RUNS, LIMIT_S = 500, 60
PART = Part.parse(os.environ.get("FUZZED_PART", "1/1"))
"""The part of the targets that `make test-fuzz PART=K/N` runs."""
FUZZED = [name for name, target in TARGETS.items() if not target.is_slow][
    PART.number - 1 :: PART.count
]


@pytest.mark.long
@pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is not installed: make test-fuzz")
@pytest.mark.parametrize("name", FUZZED)
def test_fuzzing_finds_nothing(name: str, tmp_path: Path) -> None:
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    options = [f"-runs={RUNS}", f"-max_total_time={LIMIT_S}", "-seed=1", "-timeout=60"]
    options += ["-rss_limit_mb=4096", f"-artifact_prefix={tmp_path}/", "-print_final_stats=1"]
    command = [sys.executable, "-m", "tests.hardening.fuzz", name, str(inputs), *options]
    run = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, (run.stdout + run.stderr)[-3000:]
    assert "stat::number_of_executed_units" in run.stderr


@pytest.mark.parametrize("name", ["graph", "log"])
def test_files_convert_to_inputs_and_back(name: str) -> None:
    names = names_of(readers.documents(name))
    for document in readers.documents(name):
        assert document_of(names, input_of(names, document)) == document
