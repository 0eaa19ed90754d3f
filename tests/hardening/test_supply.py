"""What is locked and licensed agrees, and what does not is noticed."""

import re
import subprocess
from pathlib import Path

import pytest

from benchmarks.hardening import licences, locks, supply
from benchmarks.hardening.forks import ROOT
from benchmarks.hardening.locks import Entry, entries, lock_names, project, read_lock
from benchmarks.hardening.rows import Row

SHARE = 0.1
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


def test_the_quick_rows_are_good() -> None:
    for row in supply.run(SHARE):
        assert row.good, (row, row.faults)


def test_a_lock_is_read_as_it_is_written() -> None:
    read = entries(LOCK)
    assert read == [
        Entry("click", "8.5.1", "", ("sha256:aa", "sha256:bb")),
        Entry("torch", "2.13.0", "sys_platform == 'linux'", ("sha256:cc",)),
    ]
    assert "".join(map(str, read)) == "".join(LOCK.splitlines(keepends=True)[2:])
    for line in ("click>=8", "click @ file:///x", "--index-url somewhere", "click"):
        with pytest.raises(ValueError, match="not the line of a lock"):
            entries(line)


def test_every_extra_is_locked() -> None:
    extras = project()["optional-dependencies"]
    locked = {entry.key for name in lock_names() for entry in read_lock(name)}
    for texts in extras.values():
        assert {locks.normal(re.split(r"[\[>=<]", text)[0]) for text in texts} <= locked


def test_on_linux_torch_is_the_cpu_build_alone() -> None:
    markers = {e.marker: set(e.hashes) for e in read_lock("dev") if e.key == "torch"}
    assert set(markers) == {locks.ON_LINUX, locks.ELSEWHERE}
    assert not markers[locks.ON_LINUX] & markers[locks.ELSEWHERE]
    assert not [e for e in read_lock("dev") if e.key.startswith(("nvidia", "cuda", "triton"))]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("click==8.5.1", "without a hash"),
        ("click==8.5.0 \\\n --hash=sha256:aa", "at another version than pinned"),
        ("rich==15.0.0 \\\n --hash=sha256:aa", "missing"),
    ],
)
def test_faults_of_locks_are_noticed(
    fault: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoilt(name: str) -> list[Entry]:
        found = [entry for entry in read_lock(name) if entry.key != "click"]
        return [*found, *entries(fault)] if name == "dev" else found

    monkeypatch.setattr(supply, "read_lock", spoilt)
    assert supply.locked().wrong[kind] == 1


@pytest.mark.parametrize(
    "line",
    ["$(BIN)/python $(INSTALL) -e .", "pip install numpy", "$(BIN)/python $(INSTALL) -r x.txt"],
)
def test_an_install_without_hashes_is_noticed(line: str) -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert supply.installs(f"{makefile}\nx:\n\t{line}\n").wrong["not by hash"] == 1


def test_faults_of_licences_are_noticed() -> None:
    text = (ROOT / "LICENSES.md").read_text()
    row = next(line for line in text.splitlines() if line.startswith("| click |"))
    assert supply.licensed(text.replace(row + "\n", "")).wrong["not listed"] == 1
    another = "| left-pad | 1.0 | MIT | users |\n"
    assert supply.licensed(text + another).wrong["not locked"] == 1
    unknown = row.replace(row.split(" | ")[2], licences.UNKNOWN)
    assert supply.licensed(text.replace(row, unknown)).wrong["unknown"] == 1


@pytest.mark.parametrize(
    ("metadata", "licence"),
    [
        ({"license_expression": "MIT", "license": "BSD"}, "MIT"),
        ({"classifier": ["License :: OSI Approved :: MIT License"]}, "MIT License"),
        ({"license": "BSD-2-Clause"}, "BSD-2-Clause"),
        ({"license": "Permission is hereby granted,\nfree of charge"}, licences.UNKNOWN),
        ({"classifier": ["License :: OSI Approved"], "license": ""}, licences.UNKNOWN),
        ({}, licences.UNKNOWN),
    ],
)
def test_licences_are_read_from_metadata(metadata: dict[str, object], licence: str) -> None:
    assert licences.licence_of(metadata) == licence


@pytest.mark.parametrize(
    ("said", "asked", "wrong"),
    [
        ("no json", 0, {}),
        ('{"dependencies": [{"name": "a", "skip_reason": "x"}]}', 0, {}),
        (
            '{"dependencies": [{"name": "a", "vulns": [{"id": "CVE-1"}]}]}',
            1,
            {"vulnerabilities": 1, "no answer": 0},
        ),
        (
            '{"dependencies": [{"name": "a", "vulns": []}, {"name": "b", "skip_reason": "x"}]}',
            1,
            {"vulnerabilities": 0, "no answer": 1},
        ),
        (
            '{"dependencies": [{"name": "a", "vulns": []}]}',
            1,
            {"vulnerabilities": 0, "no answer": 0},
        ),
    ],
)
def test_advisories_that_do_not_answer_are_not_counted(
    said: str, asked: int, wrong: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody answers the row says so and is not good; nor is it where some do not."""
    audit = tmp_path / "pip-audit"
    monkeypatch.setattr(supply, "AUDIT", audit)
    monkeypatch.setattr(supply, "lock_names", lambda: ["fuzz"])
    assert supply.audited().figures == {"not run": "make harden installs pip-audit"}
    audit.write_text(f"#!/bin/sh\necho '{said}'\n")
    audit.chmod(0o755)
    row = supply.audited()
    assert (row.tried, row.wrong) == (asked, wrong)
    assert row.figures == ({} if asked else {"not run": "service not reachable"})
    assert row.good is (asked > 0 and not any(wrong.values()))


def test_advisories_are_asked_for_where_they_answer() -> None:
    """In the public repository, once a week and after every change of a lock."""
    audit = (ROOT / ".github" / "workflows" / "audit.yml").read_text()
    assert "- run: make audit" in audit
    assert "schedule:" in audit
    makefile = (ROOT / "Makefile").read_text()
    assert "pip-audit --strict" in makefile  # which fails where nobody answers


def test_every_dependency_has_a_lower_bound() -> None:
    told = project()
    extras = [text for texts in told["optional-dependencies"].values() for text in texts]
    unbound = [text for text in (*told["dependencies"], *extras) if ">=" not in text]
    assert unbound == []


def test_workflows_run_what_is_pinned() -> None:
    assert WORKFLOWS
    for path in WORKFLOWS:
        used = re.findall(r"uses: (\S+)", path.read_text())
        assert used
        assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", one) for one in used), path
        targets = set(re.findall(r"run: make (\S+)", path.read_text()))
        assert targets <= set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))


def test_no_index_of_packages_is_named() -> None:
    run = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in run.stdout.splitlines():
        path = ROOT / name
        if path.suffix in (".txt", ".toml", ".yml", ".md", ".cff", "") and path.is_file():
            assert not INDEX.search(path.read_text(errors="replace")), name


def test_an_empty_part_is_not_good() -> None:
    assert not Row("packages", 0, {"without a hash": 0}).good
