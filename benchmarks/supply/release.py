"""A release: it is checked, built, and tried in empty virtual environments, but not uploaded.

The wheel and the sdist are tried with the running Python and with the newest one that is installed.
The weights of Ni et al.'s allocators, which `study dream` reads, are a further file of the release.

python -m benchmarks.supply.release   build dist/, or report what prevents a release
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile, ZipInfo

from benchmarks.supply.locks import ROOT, VERSIONS, project
from hatch_build import PORTABLE
from streamplace.papers.ni2020.study.outcome import WEIGHTS

DIST = ROOT / "dist"
TRY = """
import streamplace as sp
result = sp.place(sp.read_graph("dataset:real/riotbench-etl.json"), placer="metis")
assert 0 < result.score.relative_throughput <= 1
print(sp.__file__)
"""
ALLOCATORS = "ni2020-weights"
WITH_WEIGHTS = "e7043e48"  # the last commit with the weights of the allocators
NEWEST_MINOR = 19  # the newest Python 3.x that is looked for
WITHOUT_LEARN = """
from importlib.util import find_spec
assert find_spec("torch") is None, "the extra learn is installed"
"""
WITH_KERNELS = """
import sys
from streamplace.sim.kernels.bundle import reason_for_none
sys.exit(reason_for_none() or None) # an empty text would exit with 1
"""
COMMANDS = (
    ("init",),
    ("place", "graph.json", "--cluster", "cluster.json", "-o", "placement.json"),
    ("simulate", "graph.json", "placement.json", "--json"),
    ("compare", "dataset:real", "--placers", "metis,greedy,policy", "-o", "results"),
    ("report", "placement.json", "-o", "report.html"),
)
NEXT = """
dist/ is ready. The remaining steps are manual:
  git tag -s v{version} && git push origin v{version}
  upload dist/* to the package index
  start the next section of CHANGELOG.md
"""


def version_faults(released: bool = False) -> list[str]:
    """Return the files whose version differs from that of pyproject.toml.

    Parameters
    ----------
    released
        Whether the changelog must state the release date. Otherwise it may start with the changes
        since the release, under "Unreleased".
    """
    version = project()["version"]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    first = re.search(r"^## (\S+)(.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    faults = []
    if cited is None or cited[1] != version:
        faults.append(f"CITATION.cff does not state version {version}")
    starts = {version} if released else {version, "Unreleased"}
    if first is None or first[1] not in starts:
        faults.append(f"CHANGELOG.md does not start with version {version}")
    elif released and not re.search(r"\d{4}-\d\d-\d\d$", first[2]):
        faults.append(f"CHANGELOG.md states no date for version {version}")
    return faults


def main() -> None:
    """Build a release of the commit, or exit with code 1 and the reasons why that is impossible."""
    changed = _output("git", "status", "--porcelain")
    faults = [
        *version_faults(released=True),
        *(["the working tree has uncommitted changes"] if changed else []),
    ]
    if faults:
        sys.exit("no release: " + "; ".join(faults))
    shutil.rmtree(DIST, ignore_errors=True)
    with TemporaryDirectory(prefix="streamplace-release-") as folder:
        weights = Path(folder, f"{ALLOCATORS}.zip")
        pack_weights(weights)  # first, since a history that is too short shows at once
        if len(set(wheel_hashes(Path(folder)))) != 1:
            sys.exit("no release: repeated builds give different wheels")
        built = Path(folder, "1")
        for python in pythons():
            portable = *built.glob("*-none-any.whl"), *built.glob("*.tar.gz")
            for package in (*portable, _with_kernels(built, python)):
                try_out(package, Path(folder, "bare"), python)
                print(f"{package.name} works with {_output(python, '--version')}")
        shutil.copytree(built, DIST)
        shutil.copy(weights, DIST)
    print("not built: wheels with kernels for other Pythons and other kinds of machines")
    for path in sorted(DIST.iterdir()):
        print(hashlib.sha256(path.read_bytes()).hexdigest(), path.name)
    print(NEXT.format(version=project()["version"]))


def pack_weights(path: Path) -> None:
    """Write the weights of Ni et al.'s allocators, which only the history has, as a zip file.

    Raises
    ------
    SystemExit
        If the history is too short.
    """
    with ZipFile(path, "w") as archive:
        for file in WEIGHTS.values():
            shown = f"{WITH_WEIGHTS}:benchmarks/weights/{file}"
            run = subprocess.run(["git", "show", shown], cwd=ROOT, capture_output=True, check=False)
            if run.returncode:
                sys.exit(f"no release: the history lacks {shown}; git fetch --unshallow gets it")
            archive.writestr(ZipInfo(f"{ALLOCATORS}/{file}"), run.stdout)


def wheel_hashes(folder: Path) -> list[str]:
    """Build sdist and wheel twice, and a wheel from the sdist; return the hashes of the wheels."""
    wheels = [_built(ROOT, folder / number) for number in ("1", "2")]
    (sdist,) = (folder / "1").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "3", filter="data")
    (tree,) = (folder / "3").iterdir()
    wheels.append(_built(tree, folder / "4"))
    return [hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels]


def pythons() -> list[str]:
    """Return the running Python, and the newest one on the PATH if it is newer."""
    found = [sys.executable]
    for minor in range(NEWEST_MINOR, sys.version_info.minor, -1):
        python = shutil.which(f"python3.{minor}")
        if python is not None and _makes_environments(python):
            return [*found, python]
    print("no newer Python is installed: the release is tried with one only", file=sys.stderr)
    return found


def _makes_environments(python: str) -> bool:
    """Return whether a Python can create virtual environments with pip, as most can."""
    command = [python, "-c", "import ensurepip, venv"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def try_out(package: Path, folder: Path, python: str) -> None:
    """Install a wheel or sdist into a new virtual environment like a user, and run it.

    Parameters
    ----------
    folder
        Where the environment is created; what it contains is deleted first.
    python
        The Python of the environment.

    Raises
    ------
    SystemExit
        If a command fails.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment |= {"PIP_CONSTRAINT": str(VERSIONS), "PIP_BUILD_CONSTRAINT": str(VERSIONS)}
    own = folder / "venv" / "bin" / "python"
    commands = [
        [python, "-m", "venv", str(folder / "venv")],
        [str(own), "-m", "pip", "install", "-q", "--disable-pip-version-check", str(package)],
        *([str(own.with_name("streamplace")), *words] for words in COMMANDS),
    ]
    if not package.name.endswith("-none-any.whl"):
        commands.append([str(own), "-c", WITH_KERNELS])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for command in commands:
        run = subprocess.run(
            command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=False
        )
        if run.returncode:
            words = " ".join(command)
            sys.exit(
                f"no release: {package.name} with {python}: exit code {run.returncode}: {words}"
            )
    _output(str(own), "-c", WITHOUT_LEARN, folder=folder, environment=environment)
    where = _output(str(own), "-c", TRY, folder=folder, environment=environment)
    version = _output(str(own.with_name("streamplace")), "--version", folder=folder)
    if not where.startswith(str(folder)) or project()["version"] not in version:
        sys.exit(f"no release: tried {version} at {where} instead of {package.name}")


def _built(tree: Path, folder: Path) -> Path:
    """Build sdist and wheel, dated like the last commit; return the path of the wheel.

    The wheel is without kernels, since compiled code is not the same in each build.
    """
    dated = {**os.environ, "SOURCE_DATE_EPOCH": _output("git", "log", "-1", "--format=%ct")}
    words = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(words, cwd=tree, env=dated | {PORTABLE: "1"}, capture_output=True, check=True)
    return next(folder.glob("*.whl"))


def _with_kernels(folder: Path, python: str) -> Path:
    """Build a wheel with the kernels for one Python and this machine, and return its path."""
    before = {*folder.glob("*.whl")}
    words = [python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run(words, env=os.environ | {"PIP_CONSTRAINT": str(VERSIONS)}, check=True)
    (wheel,) = {*folder.glob("*.whl")} - before
    return wheel


def _output(*command: str, folder: Path = ROOT, environment: dict[str, str] | None = None) -> str:
    run = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return run.stdout.strip()


if __name__ == "__main__":
    main()
