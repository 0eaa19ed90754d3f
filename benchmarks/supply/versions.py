"""Test runs with the oldest and newest versions that pyproject.toml allows, and the locked torch.

python -m benchmarks.supply.versions oldest|newest [TEST …]

The output of pytest goes to stderr.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree.ElementTree import parse

from packaging.requirements import Requirement

from benchmarks.supply.locks import (
    BASE,
    PYTHON,
    ROOT,
    VERSIONS,
    entries,
    normal,
    project,
    tool,
)

TORCH = "torch"
IGNORED_WARNINGS = ("pyparsing.warnings.PyparsingDeprecationWarning",)
"""Warnings of old matplotlib with new pyparsing, which Python hides by default but pytest shows."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a test run.

    Parameters
    ----------
    collected
        The number of tests that pytest collected.
    versions
        The installed versions of the packages that pyproject.toml names.
    """

    collected: int
    passed: int
    skipped: int
    faults: list[str]
    versions: dict[str, str]
    seconds: float = 0.0

    @property
    def missing(self) -> int:
        """The number of collected tests without a result."""
        return max(0, self.collected - self.passed - self.skipped - len(self.faults))

    @property
    def good(self) -> bool:
        """Whether every collected test passed or was skipped, and there was one."""
        return self.collected > 0 and not self.faults and not self.missing

    def __str__(self) -> str:
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        counts = f"{self.passed:,} passed, {self.skipped:,} skipped, {self.missing:,} never run"
        return f"{self.collected:,} tests collected: {counts}; {self.seconds:.0f} s; {versions}"


def requirements() -> list[Requirement]:
    """Return the requirements of streamplace and of its tests."""
    table = project()
    texts = [*table["dependencies"], *table["optional-dependencies"][BASE]]
    return [Requirement(text) for text in texts]


def oldest() -> list[str]:
    """Return requirements that pin the oldest allowed versions."""
    bound = [str(one) for one in requirements() if normal(one.name) != TORCH]
    options = ["pip", "compile", "-q", "--resolution", "lowest-direct", "--python-version", PYTHON]
    text = "\n".join([*bound, _torch()])
    run = subprocess.run(
        [tool("uv"), *options, "--no-annotate", "--no-header", "-"],
        input=text,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    if run.returncode:
        raise RuntimeError(run.stderr)
    versions = {entry.key: entry.version for entry in entries(run.stdout)}
    names = [one.name for one in requirements() if normal(one.name) != TORCH]
    return [f"{name}=={versions[normal(name)]}" for name in names]


def newest() -> list[str]:
    """Return the requirements without version bounds."""
    return [one.name for one in requirements() if normal(one.name) != TORCH]


def run_tests(kind: str, *tests: str) -> Outcome:
    """Run the tests on a copy of the working tree in a new virtual environment.

    Parameters
    ----------
    tests
        The tests to run, as arguments of pytest; all by default.
    """
    pins = oldest() if kind == "oldest" else newest()
    with tempfile.TemporaryDirectory(prefix=f"{kind}-versions-") as name:
        tree, python = _copied(Path(name)), Path(name, "venv", "bin", "python")
        _uv("venv", "-q", "--seed", "--python", sys.executable, str(Path(name, "venv")))
        _install(python, pins)
        _uv("pip", "install", "-q", "--python", str(python), "--no-deps", "-e", str(tree))
        frozen = subprocess.run(
            [tool("uv"), "pip", "freeze", "--python", str(python), "--exclude-editable"],
            capture_output=True,
            text=True,
            check=True,
        )
        ignored = [f"-Wignore::{one}" for one in IGNORED_WARNINGS if kind == "oldest"]
        begin, pytest = time.monotonic(), [str(python), "-m", "pytest", *ignored, *tests]
        outcome = _outcome(pytest, tree, Path(name))
    names = {normal(one.name) for one in requirements()}
    versions = {e.key: e.version for e in entries(frozen.stdout) if e.key in names}
    return replace(outcome, versions=versions, seconds=time.monotonic() - begin)


def _outcome(pytest: list[str], tree: Path, folder: Path) -> Outcome:
    """Collect the tests, then run them."""
    around = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    options = ["--collect-only", "-p", "no:cacheprovider", "-p", "no:xdist"]
    run = subprocess.run(
        [*pytest, *options], cwd=tree, env=around, capture_output=True, text=True, check=False
    )
    report = folder / "report.xml"
    options = ["-n", "2", "--dist", "loadfile", "-p", "no:cacheprovider"]
    options += [f"--junitxml={report}", f"--basetemp={folder / 'pytest'}"]
    subprocess.run([*pytest, *options], cwd=tree, env=around, stdout=sys.stderr, check=False)
    return Outcome(_collected(run.stdout), *_results(report), {})


def _install(python: Path, pins: list[str]) -> None:
    """Install requirements, after torch as `make venv` does: where pip finds it, the CPU build.

    uv does not read the indexes that pip is configured with, so it may find only other builds.
    """
    subprocess.run([str(python), str(ROOT / "locks" / "install_torch.py")], check=True)
    _uv("pip", "install", "-q", "--python", str(python), *pins, _torch())


def _torch() -> str:
    """Return a requirement for the locked torch: CPU builds of other versions are hard to find."""
    (version,) = (e.version for e in entries(VERSIONS.read_text()) if e.key == TORCH)
    return f"{TORCH}=={version}"


def _copied(folder: Path) -> Path:
    """Copy the tracked files, but no compiled kernels, since these belong to one version of numba.

    The copy is a git repository, since some tests ask git for its files. The shared data lie next
    to it.
    """
    tree = folder / "tree"
    if (beside := ROOT.parent / "shared").exists():
        (folder / "shared").symlink_to(beside)
    run = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in run.stdout.decode().rstrip("\0").split("\0"):
        if (ROOT / name).exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    who = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "a copy"]):
        subprocess.run(["git", *who, *words], cwd=tree, check=True)
    return tree


def _uv(*words: str) -> None:
    subprocess.run([tool("uv"), *words], cwd=ROOT, check=True)


def _collected(output: str) -> int:
    """Return the number of tests that pytest reports as collected."""
    match = re.search(r"^(\d+)(?:/\d+)? tests? collected", output, re.MULTILINE)
    return int(match[1]) if match else 0


def _results(report: Path) -> tuple[int, int, list[str]]:
    """Return the numbers of passed and skipped tests, and the failed tests with their errors."""
    if not report.exists():
        return 0, 0, ["pytest did not finish"]
    passed, skipped, faults = 0, 0, []
    for case in parse(report).iter("testcase"):
        bad = [child for child in case if child.tag in ("failure", "error")]
        if bad:
            output = (bad[0].get("message") or "").splitlines() or [""]
            faults.append(f"{case.get('classname')}::{case.get('name')}: {output[0]:.200}")
        elif any(child.tag == "skipped" for child in case):
            skipped += 1
        else:
            passed += 1
    return passed, skipped, faults


if __name__ == "__main__":
    outcome = run_tests(sys.argv[1], *sys.argv[2:])
    print(outcome, *outcome.faults, sep="\n")
    sys.exit(not outcome.good)
