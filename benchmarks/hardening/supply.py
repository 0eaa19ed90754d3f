"""Supply: what is installed is locked, its licences are known, and old and new versions work."""

import hashlib
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.hardening import licences, release, versions
from benchmarks.hardening.forks import ROOT
from benchmarks.hardening.locks import (
    BASE,
    LOCKS,
    OWN_VERSIONS,
    VERSIONS,
    entries,
    lock_names,
    normal,
    read_lock,
)
from benchmarks.hardening.rows import NOT_RUN, UNREACHABLE, Row

AUDIT = ROOT / ".venv-supply" / "bin" / "pip-audit"
AUDIT_S = 120
WHOLE = 1.0
_INSTALL = re.compile(r"pip install|\$\(INSTALL\)|\$\(LOCKED\)")


def run(share: float = WHOLE, seed: int = 0) -> Iterator[Row]:
    """Yield rows on locks, licences, builds; the whole tries advisories and other versions too."""
    yield locked()
    yield installs((ROOT / "Makefile").read_text())
    yield licensed((ROOT / "LICENSES.md").read_text())
    yield brought_along()
    yield built()
    if share >= WHOLE:
        yield audited()
        for kind in versions.KINDS:
            yield versions.tested(kind).row(kind)


def locked() -> Row:
    """Every package is locked by the hashes of its files, at the version that is pinned."""
    pinned = {entry.key: entry.version for entry in entries(VERSIONS.read_text())}
    locks = {name: read_lock(name) for name in lock_names()}
    stray = {path.stem for path in LOCKS.glob("*.txt")} - set(locks)
    everything = [(name, entry) for name, found in locks.items() for entry in found]
    without = [entry.key for _, entry in everything if not entry.hashes]
    others = [
        f"{entry.key} in {name}"
        for name, entry in everything
        if name not in OWN_VERSIONS and pinned.get(entry.key) != entry.version
    ]
    there = {entry.key for entry in locks[BASE]}
    missing = sorted({normal(one.name) for one in versions.needed()} - there)
    wrong = {
        "without a hash": len(without),
        "at another version than pinned": len(others),
        "missing": len(missing) + len(stray),
    }
    figures = {"hashes": f"{sum(len(entry.hashes) for _, entry in everything):,}"}
    faults = [*without, *others, *missing, *sorted(stray)]
    return Row("packages in locks", len(everything), wrong, figures, faults)


def installs(makefile: str) -> Row:
    """Whatever the Makefile installs is locked, or is streamplace itself without dependencies."""
    lines = [line.strip() for line in makefile.splitlines()]
    found = [line for line in lines if _INSTALL.search(line) and ":=" not in line]
    bad = [line for line in found if not _is_locked(line)]
    return Row("installs of the Makefile", len(found), {"not by hash": len(bad)}, {}, bad)


def _is_locked(line: str) -> bool:
    by_hash = "$(LOCKED) locks/" in line or "--require-hashes" in line
    return by_hash or "--no-deps --no-build-isolation -e ." in line


def licensed(text: str) -> Row:
    """LICENSES.md lists exactly what is locked, each with its licence."""
    listed = licences.listed(text)
    there = {(one.package, one.version) for one in listed}
    wanted = {(entry.key, entry.version) for name in lock_names() for entry in read_lock(name)}
    unknown = [one.package for one in listed if one.licence in (licences.UNKNOWN, "")]
    missing, stray = sorted(wanted - there), sorted(there - wanted)
    wrong = {"unknown": len(unknown), "not listed": len(missing), "not locked": len(stray)}
    faults = [*unknown, *(f"{name} {version}" for name, version in [*missing, *stray])]
    return Row("licences of packages", len(wanted), wrong, {}, faults)


def brought_along() -> Row:
    """Vendored files are what their card says, listed, and their licences lie beside them."""
    folder = licences.VENDORED.parent
    card, listed = licences.VENDORED.read_text(), (ROOT / "LICENSES.md").read_text()
    files = [path for path in folder.iterdir() if path.suffix not in (".md", ".LICENSE")]
    faults = []
    for path in sorted(files):
        row = next((line for line in card.splitlines() if f"`{path.name}`" in line), None)
        told = hashlib.sha256(path.read_bytes()).hexdigest()
        if row is None or told not in row or row not in listed:
            faults.append(f"{path.name} is not what was listed")
        elif not (folder / f"{path.name.partition('.')[0]}.LICENSE").exists():
            faults.append(f"{path.name} has no licence beside it")
    return Row("vendored files", len(files), {"unlisted or changed": len(faults)}, {}, faults)


def built() -> Row:
    """The wheel is the same twice, and out of the sdist; versions agree."""
    faults = release.version_faults()
    with TemporaryDirectory(prefix="streamplace-built-") as folder:
        digests = release.built_three_times(Path(folder))
    wrong = {"that differ": len(set(digests)) - 1, "versions that disagree": len(faults)}
    return Row("wheels, one of them out of the sdist", len(digests), wrong, {}, faults)


def audited() -> Row:
    """No known vulnerability in anything that is locked; where nobody answers, that is told."""
    what = "packages against advisories, pip-audit"
    if not AUDIT.exists():
        return Row(what, 0, {}, {NOT_RUN: "make harden installs pip-audit"})
    asked, silent, faults = 0, 0, []
    for name in lock_names():
        words = ["--require-hashes", "--disable-pip", "-f", "json", "--progress-spinner", "off"]
        command = [str(AUDIT), *words, "-r", str(LOCKS / f"{name}.txt")]
        try:
            told = subprocess.run(
                command, capture_output=True, text=True, timeout=AUDIT_S, check=False
            )
            found = json.loads(told.stdout)["dependencies"]
        except (subprocess.TimeoutExpired, ValueError):
            silent += len(read_lock(name))
            continue
        asked += sum("skip_reason" not in one for one in found)
        silent += sum("skip_reason" in one for one in found)
        faults += [f"{one['name']}: {bad['id']}" for one in found for bad in one.get("vulns", [])]
    if not asked:
        return Row(what, 0, {}, {NOT_RUN: UNREACHABLE})
    return Row(what, asked, {"vulnerabilities": len(faults), "no answer": silent}, {}, faults)
