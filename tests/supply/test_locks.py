"""Locks: they are parsed as written, cover every extra, and are the only source of installs."""

import re
import subprocess

import pytest

from benchmarks.supply import locks
from benchmarks.supply.locks import Entry, entries, lock_names, project, read_lock
from tests.support.paths import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
INDEX = re.compile(r"--(extra-)?index-url|--find-links|https?://\S*/(simple|whl)\b")
LOCK = """# a comment
-r dev.txt
click==8.5.1 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
torch==2.13.0 ; sys_platform == 'linux' \\
    --hash=sha256:cc
"""


def test_a_lock_is_parsed_as_written() -> None:
    read = entries(LOCK)
    assert read == [
        Entry("click", "8.5.1", "", ("sha256:aa", "sha256:bb")),
        Entry("torch", "2.13.0", "sys_platform == 'linux'", ("sha256:cc",)),
    ]
    assert "".join(map(str, read)) == "".join(LOCK.splitlines(keepends=True)[2:])
    for line in ("click>=8", "click @ file:///x", "--index-url somewhere", "click"):
        with pytest.raises(ValueError, match="not a line of a lock"):
            entries(line)


def test_every_extra_is_locked() -> None:
    extras = project()["optional-dependencies"]
    locked = {entry.key for name in lock_names() for entry in read_lock(name)}
    for texts in extras.values():
        assert {locks.normal(re.split(r"[\[>=<]", text)[0]) for text in texts} <= locked


def test_torch_has_a_separate_lock_with_cpu_builds_for_linux() -> None:
    builds = read_lock(locks.TORCH)
    (elsewhere,) = (entry for entry in builds if entry.marker == locks.ELSEWHERE)
    cpu = [entry for entry in builds if entry is not elsewhere]
    assert cpu
    assert all("sys_platform == 'linux'" in e.marker and e.version.endswith("+cpu") for e in cpu)
    assert {e.public_version for e in builds} == {elsewhere.version}
    assert not any(set(e.hashes) & set(elsewhere.hashes) for e in cpu)
    unwanted = ("torch==", "nvidia", "cuda", "triton")
    assert not [e for e in read_lock(locks.BASE) if str(e).startswith(unwanted)]


def test_advisories_are_checked_in_the_public_repository() -> None:
    """The workflow checks once a week and after every change of a lock."""
    audit = (ROOT / ".github" / "workflows" / "audit.yml").read_text()
    assert "- run: make audit" in audit
    assert "schedule:" in audit
    makefile = (ROOT / "Makefile").read_text()
    assert "pip-audit --strict" in makefile  # fails if the service does not answer


def test_every_dependency_has_a_lower_bound() -> None:
    table = project()
    extras = [text for texts in table["optional-dependencies"].values() for text in texts]
    unbound = [text for text in (*table["dependencies"], *extras) if ">=" not in text]
    assert unbound == []


def test_workflows_use_pinned_actions_and_existing_targets() -> None:
    assert WORKFLOWS
    for path in WORKFLOWS:
        used = re.findall(r"uses: (\S+)", path.read_text())
        assert used
        assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", one) for one in used), path
        targets = set(re.findall(r"run: make (\S+)", path.read_text()))
        assert targets <= set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))


def test_no_file_names_a_package_index() -> None:
    run = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in run.stdout.splitlines():
        path = ROOT / name
        if path.suffix in (".txt", ".toml", ".yml", ".md", ".cff", "") and path.is_file():
            assert not INDEX.search(path.read_text(errors="replace")), name
