"""The command of the third stage, where the testbed can run and elsewhere."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.testbed import facilities
from benchmarks.testbed.passes.third_stage.__main__ import RESULTS, parsed, run
from benchmarks.testbed.passes.third_stage.budget import Budget
from tests.support.paths import ROOT

COMMAND = (sys.executable, "-m", "benchmarks.testbed.passes.third_stage")
lacking = facilities.lacking()


def ended(*words: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Return how the command ended."""
    environment = None if path is None else {"PATH": path, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        (*COMMAND, *words), capture_output=True, text=True, cwd=ROOT, env=environment, check=False
    )


@pytest.mark.long
def test_a_machine_without_programs_is_reported_or_skipped() -> None:
    refused = ended(path="/nowhere")
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert "no ip (iproute2)" in refused.stderr
    skipped = ended("--or-skip", path="/nowhere")
    assert (skipped.returncode, skipped.stdout.count("\n"), skipped.stderr) == (0, 1, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--passes", "2"), "--passes must be at least --repeats"),
        (("--workloads", "5"), "invalid choice"),
    ],
)
def test_wrong_numbers_are_refused(
    words: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["third_stage", *words])
    with pytest.raises(SystemExit, match="2"):
        parsed()
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(("passes", "seed"), [(12, 1), (15, 0)])
def test_results_of_another_seed_or_budget_are_not_shown_as_these(
    passes: int, seed: int, tmp_path: Path
) -> None:
    kept = {"workload": "chain-mm", "seed": 0, "budget": asdict(Budget(12, 3, 2))}
    (tmp_path / RESULTS).write_text(json.dumps(kept) + "\n")
    refused = pytest.raises(facilities.TestbedError, match="of another seed or budget; choose")
    with refused:
        run(tmp_path, 1, Budget(passes, 3, 2), seed)
    assert [path.name for path in tmp_path.iterdir()] == [RESULTS]


@pytest.mark.long
@pytest.mark.skipif(bool(lacking), reason=f"testbed: {', '.join(lacking)}")
def test_one_workload_is_measured_once(tmp_path: Path) -> None:
    words = ("--workloads", "1", "--passes", "12", "--epochs", "2", "-o", str(tmp_path))
    first = ended(*words)
    assert first.returncode == 0, first.stderr
    (result,) = json.loads((tmp_path / "third_stage.json").read_text())["results"]
    assert result["passes"]["stage three"] <= 12
    assert all(len(each["measured_s"]) == 9 for each in result["methods"].values())
    again = ended(*words)
    assert again.stdout == first.stdout
