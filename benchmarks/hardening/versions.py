"""The oldest and the newest versions that pyproject.toml allows, torch excepted: do they pass?

python -m benchmarks.hardening.versions oldest|newest   of one kind alone; tests are told on stderr
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

from benchmarks.hardening.forks import ROOT
from benchmarks.hardening.locks import BASE, PYTHON, VERSIONS, entries, normal, project, tool
from benchmarks.hardening.rows import Row

TORCH = "torch"
KINDS = ("oldest", "newest")
OF_OLD_LIBRARIES = ("pyparsing.warnings.PyparsingDeprecationWarning",)
"""What old versions of matplotlib do with new ones of pyparsing; Python shows it nobody."""


@dataclass(frozen=True)
class Tested:
    """What the tests came to.

    Parameters
    ----------
    collected
        What pytest finds before it runs anything.
    versions
        Of all that was installed, by name.
    """

    collected: int
    passed: int
    skipped: int
    faults: list[str]
    versions: dict[str, str]
    seconds: float = 0.0

    @property
    def missing(self) -> int:
        """How many tests were collected of which nothing is told."""
        return max(0, self.collected - self.passed - self.skipped - len(self.faults))

    def row(self, kind: str) -> Row:
        """Return the line of the table."""
        wanted = [normal(one.name) for one in needed()]
        versions = ", ".join(f"{name} {self.versions[name]}" for name in wanted)
        figures = {
            "collected": f"{self.collected:,}",
            "passed": f"{self.passed:,}",
            "skipped": f"{self.skipped:,}",
            "took": f"{self.seconds:.0f} s",
            "versions": versions,
        }
        wrong = {
            "failures": len(self.faults),
            "never run": self.missing,
            "never collected": int(not self.collected),
        }
        tried = self.passed + len(self.faults)
        return Row(f"tests with the {kind} versions allowed", tried, wrong, figures, self.faults)


def needed() -> list[Requirement]:
    """Return what streamplace needs and is tested with: a requirement a package."""
    told = project()
    texts = [*told["dependencies"], *told["optional-dependencies"][BASE]]
    return [Requirement(text) for text in texts]


def oldest() -> list[str]:
    """Return requirements of the oldest versions allowed."""
    bound = [str(one) for one in needed() if normal(one.name) != TORCH]
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
    wanted = [one.name for one in needed() if normal(one.name) != TORCH]
    return [f"{name}=={found[normal(name)]}" for name in wanted]


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
    with tempfile.TemporaryDirectory(prefix=f"{kind}-versions-") as name:
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
        ignored = [f"-Wignore::{one}" for one in OF_OLD_LIBRARIES if kind == "oldest"]
        begin, pytest = time.monotonic(), [str(python), "-m", "pytest", *ignored, *tests]
        found = _tested(pytest, tree, Path(name))
    versions = {entry.key: entry.version for entry in entries(frozen.stdout)}
    return replace(found, versions=versions, seconds=time.monotonic() - begin)


def _tested(pytest: list[str], tree: Path, folder: Path) -> Tested:
    """Collect the tests, then run them to their end."""
    around = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    told = ["--collect-only", "-p", "no:cacheprovider", "-p", "no:xdist"]
    run = subprocess.run(
        [*pytest, *told], cwd=tree, env=around, capture_output=True, text=True, check=False
    )
    report = folder / "report.xml"
    options = ["-n", "2", "--dist", "loadfile", "-p", "no:cacheprovider"]
    options += [f"--junitxml={report}", f"--basetemp={folder / 'pytest'}"]
    subprocess.run([*pytest, *options], cwd=tree, env=around, stdout=sys.stderr, check=False)
    return Tested(_collected(run.stdout), *_told(report), {})


def _torch() -> str:
    """Return the version of torch that is locked: the CPU build of others is hard to come by."""
    (version,) = (e.version for e in entries(VERSIONS.read_text()) if e.key == TORCH)
    return f"{TORCH}=={version}"


def _copied(folder: Path) -> Path:
    """Copy the files that git knows: kernels are compiled beside the sources, for one numba.

    The copy is a repository, since tests ask git what there is, with the data beside it.
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


def _collected(said: str) -> int:
    """Return how many tests pytest says there are."""
    found = re.search(r"^(\d+)(?:/\d+)? tests? collected", said, re.MULTILINE)
    return int(found[1]) if found else 0


def _told(report: Path) -> tuple[int, int, list[str]]:
    """Return how many passed and were skipped, and those that failed, each with its error."""
    if not report.exists():
        return 0, 0, ["pytest did not come to its end"]
    passed, skipped, faults = 0, 0, []
    for case in parse(report).iter("testcase"):
        bad = [child for child in case if child.tag in ("failure", "error")]
        if bad:
            said = (bad[0].get("message") or "").splitlines() or [""]
            faults.append(f"{case.get('classname')}::{case.get('name')}: {said[0]:.200}")
        elif any(child.tag == "skipped" for child in case):
            skipped += 1
        else:
            passed += 1
    return passed, skipped, faults


if __name__ == "__main__":
    row = tested(sys.argv[1], *sys.argv[2:]).row(sys.argv[1])
    print(row, *row.faults, sep="\n")
    sys.exit(not row.good)
