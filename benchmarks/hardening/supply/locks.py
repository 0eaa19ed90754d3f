"""Locks: every file that the Makefile installs, by its hash.

python -m benchmarks.hardening.supply.locks   make the locks from pyproject.toml and constraints.txt

constraints.txt holds all versions. For another version change its line, for the newest remove the
line, and make the locks. They hold the hashes of all files of a version on all platforms.
locks/dev.txt is what `dev` installs, and locks/EXTRA.txt is what another extra adds to it.
supply.txt and flink.txt belong to virtual environments of their own. Flink needs older versions of
many packages, which its lock holds.

uv resolves; its UV_… variables name the index of packages. torch is to be the CPU build, which on
Linux has an index of its own: pip finds it by PIP_FIND_LINKS or PIP_EXTRA_INDEX_URL. The lock keeps
the hashes of the CPU builds of other machines.
"""

import hashlib
import re
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.hardening.harness.environment import ROOT
from streamplace.files.atomic import write_text

LOCKS = ROOT / "locks"
VERSIONS = ROOT / "constraints.txt"
ALONE = {
    "supply": ("pip-audit", "uv"),
    "flink-build": ("setuptools", "wheel"),
    "flink": ("apache-flink==2.3.0",),
}
OWN_VERSIONS = ("flink",)
BASE = "dev"
PYTHON = "3.11.5"  # the oldest on which all of these versions run
ON_LINUX, ELSEWHERE = "sys_platform == 'linux'", "sys_platform != 'linux'"
TOP = "# Every version that the Makefile and the extras install. torch is the CPU build.\n"
MADE = "# Made by `make locks`; do not edit.\n"
_ENTRY = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)(?: ; ([^\\]*?))? ?\\?$")


@dataclass(frozen=True)
class Entry:
    """A version of a package in a lock.

    Parameters
    ----------
    marker
        The environment marker of the machines that install it.
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

    def __str__(self) -> str:
        pin = f"{self.name}=={self.version}" + (f" ; {self.marker}" if self.marker else "")
        return " \\\n".join([pin, *(f"    --hash={found}" for found in self.hashes)]) + "\n"


def normal(name: str) -> str:
    """Return the normalised name of a package: lower case, with hyphens."""
    return re.sub(r"[-_.]+", "-", name).lower()


def entries(text: str) -> list[Entry]:
    """Return the entries of a lock, or of a file of versions.

    Raises
    ------
    ValueError
        If a line is not a pin, a hash, a comment, or the name of a lock below it.
    """
    found: list[tuple[str, str, str, list[str]]] = []
    for line in text.splitlines():
        told = line.strip()
        if told.startswith("--hash="):
            found[-1][3].append(told.removeprefix("--hash=").removesuffix("\\").strip())
        elif (match := _ENTRY.match(told)) is not None:
            found.append((match[1], match[2], (match[3] or "").strip(), []))
        elif told and not told.startswith(("#", "-r ")):
            raise ValueError(f"not the line of a lock: {line!r:.80}")
    return [Entry(name, version, marker, tuple(hashes)) for name, version, marker, hashes in found]


def lock_names() -> list[str]:
    """Return the names of all locks: `dev`, the extras that add to it, and independent ones."""
    extras = project()["optional-dependencies"]
    known = set(extras[BASE])
    return [BASE, *(name for name in extras if not set(extras[name]) <= known), *ALONE]


def project() -> dict[str, Any]:
    """Return the table `project` of pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        found: dict[str, Any] = tomllib.load(file)["project"]
    return found


def read_lock(name: str) -> list[Entry]:
    """Return the entries of a lock, without those of the lock below it."""
    return entries((LOCKS / f"{name}.txt").read_text())


def main() -> None:
    """Make all locks, and complete constraints.txt."""
    LOCKS.mkdir(exist_ok=True)
    base: list[Entry] = []
    versions: dict[str, Entry] = {}
    for name in lock_names():
        found = [build for entry in _resolved(name) for build in _builds(name, entry)]
        if name == BASE:
            base = found
        layered = name != BASE and name not in ALONE
        own = [entry for entry in found if entry not in base] if layered else found
        top = MADE + (f"-r {BASE}.txt\n" if layered else "")
        write_text(LOCKS / f"{name}.txt", top + "".join(map(str, own)))
        print(f"{name}: {len(own)} packages", flush=True)
        if name not in OWN_VERSIONS:
            versions |= {entry.key: entry for entry in own}
    lines = (f"{e.name}=={e.version}\n" for _, e in sorted(versions.items()))
    write_text(VERSIONS, TOP + "".join(lines))


def _resolved(name: str) -> list[Entry]:
    """Resolve a lock; return all its entries."""
    told: list[str] = ["--universal", "--generate-hashes", "--no-annotate", "--no-header", "-q"]
    told += ["--python-version", PYTHON]
    given = "\n".join(ALONE.get(name, ()))
    if name not in OWN_VERSIONS:
        told += ["--constraint", str(VERSIONS)]
    if name in ALONE:
        told += ["-"]
    else:
        told += ["pyproject.toml", "--extra", BASE, "--extra", name]
    run = subprocess.run(
        [tool("uv"), "pip", "compile", *told],
        input=given,
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
    return str(path) if path.exists() else sys.exit(f"{path} is missing: make locks installs it")


def _builds(name: str, entry: Entry) -> list[Entry]:
    """Return the entry, or two for torch: Linux gets the CPU builds of known machines and this one.

    With a single entry pip would take the build for CUDA, whose hash its index lists.
    """
    if entry.key != "torch":
        return [entry]
    before = read_lock(name) if (LOCKS / f"{name}.txt").exists() else []
    here = Entry(entry.name, entry.version, ON_LINUX, _cpu_build(entry.version))
    known = {h for e in before if replace(e, hashes=here.hashes) == here for h in e.hashes}
    hashes = tuple(sorted(known.union(here.hashes)))
    return [replace(entry, marker=ELSEWHERE), replace(here, hashes=hashes)]


@cache
def _cpu_build(version: str) -> tuple[str, ...]:
    """Return the hash of the CPU build of torch for this machine, if it is available."""
    with tempfile.TemporaryDirectory() as folder:
        told = ["pip", "download", "-q", "--no-deps", "-d", folder, f"torch=={version}+cpu"]
        run = [sys.executable, "-m", *told]
        if subprocess.run(run, capture_output=True, check=False).returncode:
            return ()
        (file,) = Path(folder).iterdir()
        return (f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}",)


if __name__ == "__main__":
    main()
