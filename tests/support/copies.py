"""Copies of the package that lack some subsystems."""

from collections.abc import Collection
from pathlib import Path
from subprocess import CompletedProcess

from tests.support.cli import ENVIRONMENT, run
from tests.support.paths import ROOT


def all_but(folder: Path, subsystems: Collection[str], *words: str) -> "CompletedProcess[str]":
    """Run the command line of a package streamplace that lacks the folders of some subsystems."""
    package = folder / "streamplace"
    if not package.exists():
        package.mkdir(parents=True)
        for path in (ROOT / "streamplace").iterdir():
            if path.name not in subsystems:
                (package / path.name).symlink_to(path)
    return run(*words, cwd=folder, env={**ENVIRONMENT, "PYTHONPATH": str(folder)})
