"""Software supply chain: locks, licences, builds, advisories, oldest and newest dependencies."""

import hashlib
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.hardening.harness.environment import ROOT
from benchmarks.hardening.harness.rows import NOT_RUN, UNREACHABLE, Row
from benchmarks.hardening.supply import licences, release, versions
from benchmarks.hardening.supply.locks import (
    BASE,
    LOCKS,
    OWN_VERSIONS,
    TORCH,
    VERSIONS,
    entries,
    lock_names,
    normal,
    read_lock,
)

AUDIT = ROOT / ".venv-supply" / "bin" / "pip-audit"
AUDIT_S = 120
WHOLE = 1.0  # share of a whole campaign
_INSTALL = re.compile(r"pip install|\$\(INSTALL\)|\$\(LOCKED\)")


def run(share: float = WHOLE, seed: int = 0) -> Iterator[Row]:
    """Yield rows on locks, licences and builds; a whole run adds advisories and versions."""
    yield locks_row()
    yield installs_row((ROOT / "Makefile").read_text())
    yield licences_row((ROOT / "LICENSES.md").read_text())
    yield vendored_row()
    yield wheels_row()
    if share >= WHOLE:
        yield advisories_row()
        for kind in versions.KINDS:
            yield versions.run_tests(kind).row(kind)


def locks_row() -> Row:
    """Check that every package is locked with hashes at its pinned version."""
    pinned = {entry.key: entry.version for entry in entries(VERSIONS.read_text())}
    locks = {name: read_lock(name) for name in lock_names()}
    stray = {path.stem for path in LOCKS.glob("*.txt")} - set(locks)
    everything = [(name, entry) for name, locked in locks.items() for entry in locked]
    without = [entry.key for _, entry in everything if not entry.hashes]
    others = [
        f"{entry.key} in {name}"
        for name, entry in everything
        if name not in OWN_VERSIONS and pinned.get(entry.key) != entry.public_version
    ]
    locked = {entry.key for name in (BASE, TORCH) for entry in locks[name]}
    missing = sorted({normal(one.name) for one in versions.requirements()} - locked)
    wrong = {
        "without a hash": len(without),
        "not at the pinned version": len(others),
        "missing": len(missing) + len(stray),
    }
    figures = {"hashes": f"{sum(len(entry.hashes) for _, entry in everything):,}"}
    faults = [*without, *others, *missing, *sorted(stray)]
    return Row("packages in locks", len(everything), wrong, figures, faults)


def installs_row(makefile: str) -> Row:
    """Check that the Makefile installs only from locks, and streamplace without dependencies.

    torch is the exception, which SECURITY.md names: its separate step installs it by hash only if
    the CPU build is available.
    """
    lines = [line.strip() for line in makefile.splitlines()]
    installs = [line for line in lines if _INSTALL.search(line) and ":=" not in line]
    bad = [line for line in installs if not _is_locked(line)]
    return Row("installs of the Makefile", len(installs), {"not by hash": len(bad)}, {}, bad)


def _is_locked(line: str) -> bool:
    by_hash = "$(LOCKED) locks/" in line or "--require-hashes" in line
    return by_hash or "--no-deps --no-build-isolation -e ." in line


def licences_row(text: str) -> Row:
    """Check that LICENSES.md lists exactly the locked packages, with their licences."""
    listed = licences.listed(text)
    listed_versions = {(one.package, one.version) for one in listed}
    expected = {
        (entry.key, entry.public_version) for name in lock_names() for entry in read_lock(name)
    }
    unknown = [one.package for one in listed if one.licence in (licences.UNKNOWN, "")]
    missing, stray = sorted(expected - listed_versions), sorted(listed_versions - expected)
    wrong = {"unknown": len(unknown), "not listed": len(missing), "not locked": len(stray)}
    faults = [*unknown, *(f"{name} {version}" for name, version in [*missing, *stray])]
    return Row("licences of packages", len(expected), wrong, {}, faults)


def vendored_row() -> Row:
    """Check the hashes of vendored files in README and LICENSES.md, and their licence files."""
    folder = licences.VENDORED.parent
    readme, listed = licences.VENDORED.read_text(), (ROOT / "LICENSES.md").read_text()
    files = [path for path in folder.iterdir() if path.suffix not in (".md", ".LICENSE")]
    faults = []
    for path in sorted(files):
        row = next((line for line in readme.splitlines() if f"`{path.name}`" in line), None)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if row is None or digest not in row or row not in listed:
            faults.append(f"{path.name} is not listed in both files with its current hash")
        elif not (folder / f"{path.name.partition('.')[0]}.LICENSE").exists():
            faults.append(f"{path.name} has no licence file next to it")
    return Row("vendored files", len(files), {"unlisted or changed": len(faults)}, {}, faults)


def wheels_row() -> Row:
    """Check that repeated builds, one of them from the sdist, give the same wheel and version."""
    faults = release.version_faults()
    with TemporaryDirectory(prefix="streamplace-built-") as folder:
        digests = release.wheel_hashes(Path(folder))
    wrong = {"different wheels": len(set(digests)) - 1, "versions that disagree": len(faults)}
    return Row("wheels, one of them built from the sdist", len(digests), wrong, {}, faults)


def advisories_row() -> Row:
    """Look up known vulnerabilities of locked packages; report a service that does not answer."""
    what = "packages checked for advisories (pip-audit)"
    if not AUDIT.exists():
        return Row(what, 0, {}, {NOT_RUN: "make harden installs pip-audit"})
    answered, silent, faults = 0, 0, []
    for name in lock_names():
        words = ["--require-hashes", "--disable-pip", "-f", "json", "--progress-spinner", "off"]
        command = [str(AUDIT), *words, "-r", str(LOCKS / f"{name}.txt")]
        try:
            run = subprocess.run(
                command, capture_output=True, text=True, timeout=AUDIT_S, check=False
            )
            packages = json.loads(run.stdout)["dependencies"]
        except (subprocess.TimeoutExpired, ValueError):
            silent += len(read_lock(name))
            continue
        answered += sum("skip_reason" not in one for one in packages)
        silent += sum("skip_reason" in one for one in packages)
        faults += [
            f"{one['name']}: {bad['id']}" for one in packages for bad in one.get("vulns", [])
        ]
    if not answered:
        return Row(what, 0, {}, {NOT_RUN: UNREACHABLE})
    return Row(what, answered, {"vulnerabilities": len(faults), "no answer": silent}, {}, faults)
