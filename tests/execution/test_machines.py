"""Clusters of two machines, one of which is killed, beside the same work on this machine."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from streamplace.papers.studies.run import RESULTS
from tests.support.cli import run
from tests.support.clusters import OF_CLUSTERS, Options, two_machines
from tests.support.worker_loss import KILLED

STUDY = """
import sys
from pathlib import Path
from streamplace.execution.backends import Backend
from streamplace.papers.studies.run import run_study
from tests.support.studies import Squares

folder, lost, *where = sys.argv[1:]
study = Squares(12, lost=Path(lost))
run_study(study, folder, jobs=None if where else 1, backend=Backend(*where))
"""


@pytest.mark.parametrize("name", ["ray", "dask"])
def test_a_killed_machine_changes_no_byte_of_a_comparison(name: str, tmp_path: Path) -> None:
    dataset, flag = tmp_path / "dream.jsonl", tmp_path / "lost"
    words = ["generate", "dream", "--count", 60, "--seed", 5, "--jobs", 1, "-o", dataset]
    assert run(*words).returncode == 0
    killed = f"{KILLED}:graph=dream_30:flag={flag}:machine"
    with two_machines(name) as where:
        compare(dataset, killed, tmp_path / "cluster", where)
        assert flag.exists()
    compare(dataset, killed, tmp_path / "local", ["--jobs", "1"])
    one, other = ((tmp_path / at / "graphs.csv").read_bytes() for at in ("local", "cluster"))
    assert one == other


def compare(dataset: Path, placer: str, folder: Path, where: Options) -> None:
    """Run a comparison that must succeed."""
    words = ["--placers", f"{placer},greedy,metis", "--plots", "none", "-o", folder]
    process = run("compare", dataset, *words, *where, env=OF_CLUSTERS)
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("relative throughput over 60 graphs")


@pytest.mark.parametrize("name", ["ray", "dask"])
def test_a_killed_machine_changes_no_result_of_a_study(name: str, tmp_path: Path) -> None:
    flag = tmp_path / "lost"
    with two_machines(name) as (*_, address):
        study(tmp_path / "cluster", flag, name, address)
        assert flag.exists()
    study(tmp_path / "local", flag)
    assert rows(tmp_path / "local") == rows(tmp_path / "cluster")
    for file in ("README.md", "squares.csv", "study.json"):
        one, other = ((tmp_path / at / file).read_bytes() for at in ("local", "cluster"))
        assert one == other, file


def study(folder: Path, flag: Path, *where: str) -> None:
    """Run a study that must succeed."""
    words = [sys.executable, "-c", STUDY, str(folder), str(flag), *where]
    process = subprocess.run(words, env=OF_CLUSTERS, stderr=subprocess.PIPE, text=True, check=False)
    assert process.returncode == 0, process.stderr


def rows(folder: Path) -> dict[str, object]:
    """Return the rows of each unit of a study."""
    lines = map(json.loads, (folder / RESULTS).read_text().splitlines())
    return {line["unit"]: line["rows"] for line in lines}
