"""The version that captions name."""

import subprocess
from importlib.metadata import version
from pathlib import Path

from streamplace.util.version import version_and_commit


def test_a_checkout_has_a_commit_and_says_that_it_has_changes(tmp_path: Path) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True)
    shown = version_and_commit(tmp_path)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert shown.startswith(f"{version('streamplace')} (commit {commit[:7]}")
    assert "-dirty" not in shown
    (tmp_path / "x").touch()
    subprocess.run(["git", "add", "x"], cwd=tmp_path, check=True)
    assert version_and_commit(tmp_path) == shown[:-1] + "-dirty)"


def test_a_folder_without_a_checkout_has_none(tmp_path: Path) -> None:
    """The repository of a user, in which the package is installed, is not ours."""
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "site-packages").mkdir()
    assert version_and_commit(tmp_path / "site-packages") == version("streamplace")
    (tmp_path / "broken" / ".git").mkdir(parents=True)
    assert version_and_commit(tmp_path / "broken") == version("streamplace")
