"""The commit that a benchmark records."""

import os
import subprocess
from pathlib import Path

import pytest

from benchmarks import commit


def test_changed_code_counts_and_replaced_outputs_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)  # as in a hook of Git, where they name another repository
    monkeypatch.setattr(commit, "ROOT", tmp_path)
    code, output = tmp_path / "code.py", tmp_path / "benchmarks" / "results" / "speed.txt"
    output.parent.mkdir(parents=True)
    for path in (code, output):
        path.write_text("1\n")
    author = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    for words in (("init",), ("add", "."), (*author, "commit", "-m", "first")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)
    clean = commit.running_commit.__wrapped__()
    assert clean
    output.write_text("2\n")
    (tmp_path / "untracked.txt").touch()
    assert commit.running_commit.__wrapped__() == clean
    code.write_text("2\n")
    assert commit.running_commit.__wrapped__() == clean + commit.DIRTY
