"""Licences of the packages that streamplace needs, is developed with, or ships.

python -m benchmarks.supply.licences

The command writes LICENSES.md from the locks and the metadata of the packages.
"""

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from packaging.requirements import Requirement

from benchmarks.supply.locks import (
    BASE,
    ROOT,
    TORCH,
    Entry,
    lock_names,
    normal,
    project,
    read_lock,
    tool,
)
from streamplace.files.writing import write_text

FILE = ROOT / "LICENSES.md"
VENDORED = ROOT / "streamplace" / "reports" / "page" / "vendor" / "README.md"
USERS, LEARN = "users", "learn"
UNKNOWN = "UNKNOWN"
KNOWN = {"atheris": "Apache-2.0"}  # from a file of the package, whose metadata state no licence
MAX_LENGTH = 60  # characters of a licence's name; a longer string is the text of the licence
TOP = """# Licences

`make locks` generates this file from the metadata of the packages. streamplace itself is licensed
under Apache-2.0; see [LICENSE](LICENSE).

## Included files
The wheel contains these files, unchanged, with their licences.

{vendored}
The graphs in `datasets/real` were written for streamplace from published descriptions, which their
[card](datasets/real/README.md) names. Nothing was copied from those sources.

The graphs in `datasets/networks` were derived from the modules of torchvision (BSD-3-Clause) and
transformers (Apache-2.0), as their [card](datasets/networks/README.md) says. They contain no code,
text or weights of these packages, which streamplace does not need.

## Packages
`pip install .` installs the packages for *users*. The named extra or Makefile target
installs the others.

"""


@dataclass(frozen=True, order=True)
class Licence:
    """The licence of a package, and what needs the package."""

    package: str
    version: str
    licence: str
    needed_by: str

    def __str__(self) -> str:
        return f"| {self.package} | {self.version} | {self.licence} | {self.needed_by} |\n"


def licence_of(metadata: dict[str, Any]) -> str:
    """Return the licence that the metadata of a package state, or `UNKNOWN`.

    It comes from the licence expression, else the classifiers, else the free-text field if short.
    """
    if metadata.get("license_expression"):
        return str(metadata["license_expression"])
    classifiers = [
        c.rpartition(" :: ")[2] for c in metadata.get("classifier", []) if "License ::" in c
    ]
    named = [name for name in classifiers if name != "OSI Approved"]
    if named:
        return ", ".join(named)
    text = (metadata.get("license") or "").strip()
    return text if text and "\n" not in text and len(text) <= MAX_LENGTH else UNKNOWN


def needed_by(requirements: Iterable[str], metadata: dict[str, dict[str, Any]]) -> set[str]:
    """Return the names of the packages that requirements need directly or indirectly."""
    needed: set[str] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        name = normal(requirement.name)
        if name in needed or (
            requirement.marker and not requirement.marker.evaluate({"extra": ""})
        ):
            continue
        needed.add(name)
        waiting += [Requirement(text) for text in metadata[name].get("requires_dist", [])]
    return needed


def listed(text: str) -> list[Licence]:
    """Return the packages that the text of LICENSES.md lists."""
    rows = [line.strip("| \n").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    head = rows.index(["package", "version", "licence", "needed by"])
    return [Licence(*row) for row in rows[head + 1 :]]


def vendored() -> str:
    """Return the table of vendored files from their README."""
    lines = VENDORED.read_text().splitlines()
    return "".join(line + "\n" for line in lines if line.startswith("|"))


def main() -> None:
    """Write LICENSES.md; exit with code 1 if a licence is unknown."""
    locks = {name: read_lock(name) for name in lock_names()}
    base = (BASE, TORCH)
    known = _metadata([entry for name in base for entry in locks[name]])
    users = needed_by(project()["dependencies"], known)
    learners = needed_by(project()["optional-dependencies"][LEARN], known)
    lines: set[Licence] = set()
    for name, locked in locks.items():
        metadata = _metadata(locked)
        for entry in locked:
            who = name
            if name in base and entry.key in users | learners:
                who = USERS if entry.key in users else LEARN
            licence = KNOWN.get(entry.key) or licence_of(metadata[entry.key])
            lines.add(Licence(entry.key, entry.public_version, licence, who))
    unknown = sorted(line.package for line in lines if line.licence == UNKNOWN)
    head = "| package | version | licence | needed by |\n|---|---|---|---|\n"
    table = head + "".join(map(str, _joined(lines)))
    write_text(FILE, TOP.format(vendored=vendored()) + table)
    if unknown:
        sys.exit(f"licences unknown: {', '.join(unknown)}")


def _joined(lines: Iterable[Licence]) -> list[Licence]:
    """Merge the lines of each version of a package into one."""
    merged: dict[tuple[str, str], Licence] = {}
    for line in sorted(lines):
        before = merged.get((line.package, line.version))
        who = f"{before.needed_by}, {line.needed_by}" if before else line.needed_by
        merged[line.package, line.version] = Licence(line.package, line.version, line.licence, who)
    return list(merged.values())


def _metadata(locked: list[Entry]) -> dict[str, dict[str, Any]]:
    """Return the metadata of packages by name, without installing them."""
    with TemporaryDirectory() as folder:
        report, pins = Path(folder, "report.json"), Path(folder, "pins.txt")
        pins.write_text("".join({f"{entry.name}=={entry.public_version}\n": 0 for entry in locked}))
        options = ["--dry-run", "--no-deps", "--ignore-installed", "-q", "--report", str(report)]
        pip = [tool("python"), "-m", "pip", "install", *options, "-r", str(pins)]
        subprocess.run(pip, check=True, stderr=subprocess.DEVNULL)
        packages = json.loads(report.read_text())["install"]
    return {normal(one["metadata"]["name"]): one["metadata"] for one in packages}


if __name__ == "__main__":
    main()
