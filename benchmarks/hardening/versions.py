"""The oldest and the newest versions that pyproject.toml allows, torch excepted: do they pass?"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import parse

from packaging.requirements import Requirement

from benchmarks.hardening.forks import ROOT
from benchmarks.hardening.locks import BASE, PYTHON, VERSIONS, entries, normal, project, tool

TORCH = "torch"
KINDS = ("oldest", "newest")
OF_OLD_LIBRARIES = ("pyparsing.warnings.PyparsingDeprecationWarning",)
"""What old versions of matplotlib do with new ones of pyparsing; Python shows it nobody."""


@dataclass(frozen=True)
class Tested:
    """What the tests came to."""

    passed: int
    failed: int
    faults: list[str]
    versions: dict[str, str]


def needed() -> list[Requirement]:
    """Return what streamplace needs and is tested with: a requirement a package."""
    told = project()
    texts = [*told["dependencies"], *told["optional-dependencies"][BASE]]
    return [Requirement(text) for text in texts]


def oldest() -> list[str]:
    """Return requirements of the oldest versions allowed; of tools without a bound, any."""
    bound = [str(one) for one in needed() if one.specifier and normal(one.name) != TORCH]
    told = ["pip", "compile", "-q", "--resolution", "lowest-direct", "--python-version", PYTHON]
    text = "\n".join([*bound, _torch()])
    run = subprocess.run(
        [tool("uv"), *told, "--no-annotate", "--no-header", "-"],
        input=text,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    if run.returncode:
        raise RuntimeError(run.stderr)
    found = {entry.key: entry.version for entry in entries(run.stdout)}
    return [
        f"{one.name}=={found[normal(one.name)]}" if one.specifier else one.name
        for one in needed()
        if normal(one.name) != TORCH
    ]


def newest() -> list[str]:
    """Return requirements without bounds."""
    return [one.name for one in needed() if normal(one.name) != TORCH]


def tested(kind: str, *tests: str) -> Tested:
    """Run the tests on a copy of the tree in a virtual environment of its own.

    Parameters
    ----------
    tests
        Of which alone; by default all.
    """
    wanted = oldest() if kind == "oldest" else newest()
    with tempfile.TemporaryDirectory(prefix=f"streamplace-{kind}-") as name:
        tree, python = _copied(Path(name)), Path(name, "venv", "bin", "python")
        _uv("venv", "-q", "--python", sys.executable, str(Path(name, "venv")))
        _uv("pip", "install", "-q", "--python", str(python), _torch(), *wanted)
        _uv("pip", "install", "-q", "--python", str(python), "--no-deps", "-e", str(tree))
        frozen = subprocess.run(
            [tool("uv"), "pip", "freeze", "--python", str(python), "--exclude-editable"],
            capture_output=True,
            text=True,
            check=True,
        )
        report = Path(name, "report.xml")
        ignored = [f"-Wignore::{one}" for one in OF_OLD_LIBRARIES if kind == "oldest"]
        options = ["-n", "1", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *ignored]
        subprocess.run(
            [str(python), "-m", "pytest", *options, *tests],
            cwd=tree,
            env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
            capture_output=True,
            check=False,
        )
        passed, faults = _told(report)
    versions = {entry.key: entry.version for entry in entries(frozen.stdout)}
    return Tested(passed, len(faults), faults, versions)


def _torch() -> str:
    """Return the version of torch that is locked: the CPU build of others is hard to come by."""
    (version,) = (e.version for e in entries(VERSIONS.read_text()) if e.key == TORCH)
    return f"{TORCH}=={version}"


def _copied(folder: Path) -> Path:
    """Copy the files that git knows: kernels are compiled beside the sources, for one numba."""
    tree = folder / "tree"
    run = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in run.stdout.decode().rstrip("\0").split("\0"):
        if (ROOT / name).exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    return tree


def _uv(*words: str) -> None:
    subprocess.run([tool("uv"), *words], cwd=ROOT, check=True)


def _told(report: Path) -> tuple[int, list[str]]:
    """Return how many tests passed, and the names of those that did not, each with its error."""
    if not report.exists():
        return 0, ["pytest did not come to its end"]
    passed, faults = 0, []
    for case in parse(report).iter("testcase"):
        bad = [child for child in case if child.tag in ("failure", "error")]
        if bad:
            said = (bad[0].get("message") or "").splitlines() or [""]
            faults.append(f"{case.get('classname')}::{case.get('name')}: {said[0]:.200}")
        elif not any(child.tag == "skipped" for child in case):
            passed += 1
    return passed, faults
