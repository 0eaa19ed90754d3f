"""Lock files: the version and the hashes of every package that the Makefile installs.

python -m benchmarks.supply.locks   write the locks from pyproject.toml, constraints.txt

constraints.txt lists the version of every package. To change a version, edit its line; to get the
newest version, remove the line; then make the locks. They list the hashes of all files of a version
on all platforms. locks/dev.txt is what the extra `dev` installs except torch, and locks/EXTRA.txt
is what another extra adds. supply.txt, flink.txt and ray-cluster.txt are for separate virtual
environments. Flink needs older versions of many packages, which its lock lists.

torch has a separate lock, locks/torch.txt, because the CPU builds of torch for Linux are on a
separate index: locks/install_torch.py installs them by hash if pip finds them (PIP_FIND_LINKS,
PIP_EXTRA_INDEX_URL), and otherwise another build of torch. The lock keeps the hashes of CPU builds
that it already has, and `make locks` adds the hash for the machine that runs it.

uv resolves the versions; its UV_… variables name the package index.
"""

import hashlib
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from streamplace.files.writing import write_text

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ROOT / "locks"
VERSIONS = ROOT / "constraints.txt"
SEPARATE = {  # locks for separate virtual environments
    "supply": ("pip-audit", "uv"),
    "flink-build": ("setuptools", "wheel"),
    "flink": ("apache-flink==2.3.0",),
    "ray-cluster": ("ray[default]",),
}
OWN_VERSIONS = ("flink",)  # locks whose versions are not in constraints.txt
BASE, TORCH = "dev", "torch"
PYTHON = "3.11.5"  # the oldest version on which all of these packages run
ELSEWHERE = "sys_platform != 'linux'"
THIS_MACHINE = (
    f"sys_platform == '{sys.platform}' and platform_machine == '{platform.machine()}'"
    f" and python_version == '{sys.version_info.major}.{sys.version_info.minor}'"
)
TOP = "# Every version that the Makefile and the extras install. torch is the CPU build.\n"
HEAD = "# Made by `make locks`; do not edit.\n"
_ENTRY = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)(?: ; ([^\\]*?))? ?\\?$")


@dataclass(frozen=True)
class Entry:
    """A version of a package in a lock.

    Parameters
    ----------
    marker
        The environment marker of the machines that install this version.
    hashes
        The hashes of its files, ``sha256:…``.
    """

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]

    @property
    def key(self) -> str:
        """The normalised name."""
        return normal(self.name)

    @property
    def public_version(self) -> str:
        """The version without a local label such as ``+cpu``."""
        return self.version.partition("+")[0]

    def __str__(self) -> str:
        pin = f"{self.name}=={self.version}" + (f" ; {self.marker}" if self.marker else "")
        return " \\\n".join([pin, *(f"    --hash={digest}" for digest in self.hashes)]) + "\n"


def normal(name: str) -> str:
    """Return the normalised name of a package: lower case, with hyphens."""
    return re.sub(r"[-_.]+", "-", name).lower()


def entries(text: str) -> list[Entry]:
    """Return the entries of a lock file or of constraints.txt.

    Raises
    ------
    ValueError
        If a line is not a pin, a hash, a comment, or a reference to the base lock.
    """
    pins: list[tuple[str, str, str, list[str]]] = []
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("--hash="):
            pins[-1][3].append(stripped.removeprefix("--hash=").removesuffix("\\").strip())
        elif (match := _ENTRY.match(stripped)) is not None:
            pins.append((match[1], match[2], (match[3] or "").strip(), []))
        elif stripped and not stripped.startswith(("#", "-r ")):
            raise ValueError(f"not a line of a lock: {line!r:.80}")
    return [Entry(name, version, marker, tuple(hashes)) for name, version, marker, hashes in pins]


def lock_names() -> list[str]:
    """Return the names of all locks: `dev`, `torch`, those of other extras, and separate ones."""
    extras = project()["optional-dependencies"]
    known = set(extras[BASE])
    return [BASE, TORCH, *(name for name in extras if not set(extras[name]) <= known), *SEPARATE]


def project() -> dict[str, Any]:
    """Return the table `project` of pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        table: dict[str, Any] = tomllib.load(file)["project"]
    return table


def read_lock(name: str) -> list[Entry]:
    """Return the entries of a lock, without those of the base lock that it refers to."""
    return entries((LOCKS / f"{name}.txt").read_text())


def main() -> None:
    """Write all locks, and add missing versions to constraints.txt."""
    LOCKS.mkdir(exist_ok=True)
    base = _resolved(BASE)
    locks = {
        BASE: [entry for entry in base if entry.key != TORCH],
        TORCH: _builds(next(entry for entry in base if entry.key == TORCH)),
    }
    for name in lock_names():
        if name in SEPARATE:
            locks[name] = _resolved(name)
        elif name not in locks:
            locks[name] = [entry for entry in _resolved(name) if entry not in base]
    versions: dict[str, str] = {}
    for name, locked in locks.items():
        below = "" if name in (BASE, TORCH, *SEPARATE) else f"-r {BASE}.txt\n"
        write_text(LOCKS / f"{name}.txt", HEAD + below + "".join(map(str, locked)))
        print(f"{name}: {len(locked)} packages", flush=True)
        if name not in OWN_VERSIONS:
            versions |= {entry.key: f"{entry.name}=={entry.public_version}" for entry in locked}
    write_text(VERSIONS, TOP + "".join(f"{pin}\n" for _, pin in sorted(versions.items())))


def _resolved(name: str) -> list[Entry]:
    """Resolve the packages of a lock; return all entries, including those of the base lock."""
    options: list[str] = ["--universal", "--generate-hashes", "--no-annotate", "--no-header", "-q"]
    options += ["--python-version", PYTHON]
    requirements = "\n".join(SEPARATE.get(name, ()))
    if name not in OWN_VERSIONS:
        options += ["--constraint", str(VERSIONS)]
    if name in SEPARATE:
        options += ["-"]
    else:
        options += ["pyproject.toml", "--extra", BASE, "--extra", name]
    run = subprocess.run(
        [tool("uv"), "pip", "compile", *options],
        input=requirements,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    if run.returncode:
        sys.exit(f"{name}: {run.stderr.strip()}")
    return entries(run.stdout)


def tool(name: str) -> str:
    """Return the path of a program in the virtual environment of `supply`.

    Raises
    ------
    SystemExit
        If it is missing.
    """
    path = ROOT / ".venv-supply" / "bin" / name
    return str(path) if path.exists() else sys.exit(f"{path}: no such file; make locks installs it")


def _builds(entry: Entry) -> list[Entry]:
    """Return the entries of torch: the default build outside Linux, and all known CPU builds."""
    path = LOCKS / f"{TORCH}.txt"
    before = read_lock(TORCH) if path.exists() else []
    version = f"{entry.version}+cpu"
    known = {e.marker: e for e in before if e.version == version}
    here = _cpu_build(version)
    if here:
        known[THIS_MACHINE] = Entry(entry.name, version, THIS_MACHINE, here)
    return [replace(entry, marker=ELSEWHERE), *(known[marker] for marker in sorted(known))]


def _cpu_build(version: str) -> tuple[str, ...]:
    """Return the hash of the CPU build of torch for this machine; empty if it is unavailable."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["pip", "download", "-q", "--no-deps", "-d", folder, f"{TORCH}=={version}"]
        run = [sys.executable, "-m", *command]
        if subprocess.run(run, capture_output=True, check=False).returncode:
            return ()
        (file,) = Path(folder).iterdir()
        return (f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}",)


if __name__ == "__main__":
    main()
