"""Every package is locked with hashes, installed from the locks, and listed with its licence."""

import hashlib
import re
from pathlib import Path

import pytest

from benchmarks.supply import licences, release
from benchmarks.supply.locks import (
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
from benchmarks.supply.versions import requirements
from tests.support.paths import ROOT

INSTALL = re.compile(r"pip install|\$\(INSTALL\)|\$\(LOCKED\)")
LOCKED = ("$(LOCKED) locks/", "--require-hashes", "--no-deps --no-build-isolation -e .")


def test_packages_are_locked_with_hashes_at_their_pinned_versions() -> None:
    pinned = {entry.key: entry.version for entry in entries(VERSIONS.read_text())}
    assert {path.stem for path in LOCKS.glob("*.txt")} == set(lock_names())
    for name in lock_names():
        for entry in read_lock(name):
            assert entry.hashes, entry.key
            assert name in OWN_VERSIONS or pinned[entry.key] == entry.public_version, entry.key
    locked = {entry.key for name in (BASE, TORCH) for entry in read_lock(name)}
    assert {normal(one.name) for one in requirements()} <= locked


def unlocked_installs(makefile: str) -> list[str]:
    """Return the lines of a Makefile that install other than from a lock, or what a lock has.

    torch is the exception, which SECURITY.md names: locks/install_torch.py installs it.
    """
    lines = [line.strip() for line in makefile.splitlines()]
    installs = [line for line in lines if INSTALL.search(line) and ":=" not in line]
    assert installs
    return [line for line in installs if not any(words in line for words in LOCKED)]


def test_the_makefile_installs_from_locks() -> None:
    assert unlocked_installs((ROOT / "Makefile").read_text()) == []


@pytest.mark.parametrize(
    "line",
    ["$(BIN)/python $(INSTALL) -e .", "pip install numpy", "$(BIN)/python $(INSTALL) -r x.txt"],
)
def test_an_install_without_hashes_is_noticed(line: str) -> None:
    assert unlocked_installs(f"x:\n\t{line}\n") == [line]


def test_licences_are_listed_for_exactly_the_locked_packages() -> None:
    listed = licences.listed((ROOT / "LICENSES.md").read_text())
    locked = {(e.key, e.public_version) for name in lock_names() for e in read_lock(name)}
    assert {(one.package, one.version) for one in listed} == locked
    assert not [one.package for one in listed if one.licence in (licences.UNKNOWN, "")]


def test_vendored_files_are_listed_with_their_hashes_and_licences() -> None:
    folder, listed = licences.VENDORED.parent, (ROOT / "LICENSES.md").read_text()
    readme = licences.VENDORED.read_text().splitlines()
    files = [path for path in folder.iterdir() if path.suffix not in (".md", ".LICENSE")]
    assert files
    for path in files:
        (row,) = (line for line in readme if f"`{path.name}`" in line)
        assert hashlib.sha256(path.read_bytes()).hexdigest() in row
        assert row in listed
        assert (folder / f"{path.name.partition('.')[0]}.LICENSE").exists()


def test_repeated_builds_give_the_same_wheel(tmp_path: Path) -> None:
    """One of them is built from the sdist."""
    assert release.version_faults() == []
    assert len(set(release.wheel_hashes(tmp_path))) == 1
