"""A release: it is checked, built, and tried in empty virtual environments, but not uploaded.

A wheel with kernels is built for each supported Python that is found, and tried with and without
the extra `learn`. The sdist and the wheel without kernels are tried with the running Python.
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
MINORS = 11, 12, 13
"""The Pythons 3.x that are supported: a wheel with kernels is for one of them."""
WITHOUT_LEARN = """
from importlib.util import find_spec
assert find_spec("torch") is None, "the extra learn is installed"
"""
WITH_KERNELS = """
import sys
from streamplace.sim.kernels.bundle import reason_for_none
sys.exit(reason_for_none() or None) # an empty text would exit with 1
"""
INSTALL_TORCH = ROOT / "locks" / "install_torch.py"
PLACE = "place", "graph.json", "--cluster", "cluster.json"
COMMANDS = (
    ("init",),
    (*PLACE, "-o", "placement.json"),
    ("simulate", "graph.json", "placement.json", "--json"),
    ("compare", "dataset:real", "--placers", "metis,greedy,policy", "-o", "results"),
    ("report", "placement.json", "-o", "report.html"),
)
LEARNING = (
    ("generate", "dream", "--count", "3", "--operators", "4-8", "-o", "graphs.jsonl"),
    (
        "train",
        "graphs.jsonl",
        "--config",
        "giph-stream",
        *("--set", "stage[0].epochs=1", "--set", "run.held_out=1"),
        *("-o", "run"),
    ),
    (*PLACE, "--placer", "policy:file=run/policy.safetensors"),
)
"""Further commands, which need the extra `learn`."""
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
    citation = (ROOT / "CITATION.cff").read_text()
    cited = re.search(r"^version: (\S+)$", citation, re.MULTILINE)
    first = re.search(r"^## (\S+)(.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    faults = []
    if cited is None or cited[1] != version:
        faults.append(f"CITATION.cff does not state version {version}")
    starts = {version} if released else {version, "Unreleased"}
    if first is None or first[1] not in starts:
        faults.append(f"CHANGELOG.md does not start with version {version}")
    elif released:
        day = re.search(r"\d{4}-\d\d-\d\d$", first[2])
        if day is None:
            faults.append(f"CHANGELOG.md states no date for version {version}")
        elif f"date-released: {day[0]}\n" not in citation:
            faults.append(f"CITATION.cff does not state the date of version {version}, {day[0]}")
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
        bare, found = Path(folder, "bare"), pythons()
        for package in (*built.glob("*-none-any.whl"), *built.glob("*.tar.gz")):
            try_out(package, bare, sys.executable)
        for python in found.values():
            package = _with_kernels(built, python)
            for learns in (False, True):
                try_out(package, bare, python, learns=learns)
        shutil.copytree(built, DIST)
        shutil.copy(weights, DIST)
    missing = [f"Python 3.{minor}" for minor in MINORS if minor not in found]
    others = ", ".join([*missing, "other kinds of machines"])
    print(f"not built: wheels with kernels for {others}")
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


def pythons() -> dict[int, str]:
    """Return the Python 3.x of each supported x that is found: on the PATH, or installed by pyenv.

    The running Python comes before others of its version.
    """
    found = {}
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for minor in MINORS:
        own = [sys.executable] if sys.version_info[:2] == (3, minor) else []
        on_path = shutil.which(f"python3.{minor}")
        of_pyenv = sorted(map(str, root.glob(f"versions/3.{minor}.*/bin/python")))
        for python in (*own, *([on_path] if on_path else []), *of_pyenv):
            if _makes_environments(python):
                found[minor] = python
                break
    return found


def _makes_environments(python: str) -> bool:
    """Return whether a Python can create virtual environments with pip.

    pyenv has a command for each version, which fails where that version is not chosen.
    """
    command = [python, "-c", "import ensurepip, venv"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def try_out(package: Path, folder: Path, python: str, *, learns: bool = False) -> None:
    """Install a wheel or sdist into a new virtual environment like a user, and run it.

    Parameters
    ----------
    folder
        Where the environment is created; what it contains is deleted first.
    python
        The Python of the environment.
    learns
        Whether to install the extra `learn` as well, with torch as `make venv` installs it.

    Raises
    ------
    SystemExit
        If a command fails.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment |= {"PIP_CONSTRAINT": str(VERSIONS), "PIP_BUILD_CONSTRAINT": str(VERSIONS)}
    own = folder / "venv" / "bin" / "python"
    what = f"{package}[learn]" if learns else str(package)
    commands = [
        [python, "-m", "venv", str(folder / "venv")],
        *([[str(own), str(INSTALL_TORCH)]] if learns else []),
        [str(own), "-m", "pip", "install", "-q", "--disable-pip-version-check", what],
        *(
            [str(own.with_name("streamplace")), *words]
            for words in (*COMMANDS, *(LEARNING if learns else ()))
        ),
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
    if not learns:
        _output(str(own), "-c", WITHOUT_LEARN, folder=folder, environment=environment)
    where = _output(str(own), "-c", TRY, folder=folder, environment=environment)
    version = _output(str(own.with_name("streamplace")), "--version", folder=folder)
    if not where.startswith(str(folder)) or project()["version"] not in version:
        sys.exit(f"no release: tried {version} at {where} instead of {package.name}")
    with_learn = ", with the extra learn" if learns else ""
    print(f"{package.name} works with {_output(python, '--version')}{with_learn}")


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
