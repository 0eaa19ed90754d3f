"""The examples, compared with the outputs beside them and with the README."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.reference.trainings import SMALL, graphs
from streamplace.files import write_dataset
from tests.support.cli import ENVIRONMENT
from tests.support.paths import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.out"))
LONG = ("neural_network",)


@pytest.mark.parametrize(
    "expected",
    [pytest.param(p, marks=pytest.mark.long if p.stem in LONG else ()) for p in EXAMPLES],
    ids=lambda path: path.stem,
)
def test_an_example_prints_the_expected_output(expected: Path, tmp_path: Path) -> None:
    script = expected.with_suffix(".py")
    run = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.stderr == ""
    assert run.stdout == expected.read_text()


@pytest.mark.long
def test_the_demo_runs(tmp_path: Path) -> None:
    script = (ROOT / "examples" / "demo.py").read_text().replace("--count 200", "--count 40")
    small = tmp_path / "demo.py"
    small.write_text(script)
    run = subprocess.run(
        [sys.executable, str(small)], cwd=tmp_path, capture_output=True, text=True, check=False,
        env=ENVIRONMENT,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    written = sorted(p.name for p in (tmp_path / "demo-output").iterdir())
    assert written == ["comparison", "dream.jsonl.gz", "mapping.csv", "placement.json"]
    mapping = (tmp_path / "demo-output" / "mapping.csv").read_text().splitlines()
    assert mapping[0] == "operator,device"
    assert len(mapping) == 9


def test_the_scripts_and_jobs_for_flink_are_described() -> None:
    folder = ROOT / "examples" / "flink"
    rows = [line for line in (folder / "README.md").read_text().splitlines() if line[:3] == "| `"]
    described = {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    assert described == {path.name for path in folder.iterdir() if path.suffix in (".py", ".java")}


def test_a_sweep_with_optuna(tmp_path: Path) -> None:
    pytest.importorskip("optuna", reason="Optuna is not installed, which examples/sweep.py needs")
    write_dataset(tmp_path / "graphs.jsonl", graphs())
    (tmp_path / "small.toml").write_text(SMALL)
    for trials in ("2", "1"):  # the second call continues
        words = [tmp_path / "graphs.jsonl", tmp_path / "small.toml", trials, tmp_path / "sweep"]
        run = subprocess.run(
            [sys.executable, str(ROOT / "examples" / "sweep.py"), *map(str, words)],
            capture_output=True, text=True, check=False, env=ENVIRONMENT,
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        assert re.fullmatch(r"trial \d: -?\d\.\d{4} with \{'rate': .*\}\n", run.stdout)
    assert sorted(path.name for path in (tmp_path / "sweep").iterdir()) == [*"012", "sweep.db"]
