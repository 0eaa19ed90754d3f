"""What is locked, licensed and released agrees, and what does not is noticed."""

import os
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from benchmarks.hardening import licences, locks, release, supply, versions
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


def test_a_release_needs_a_day_and_one_version(monkeypatch: pytest.MonkeyPatch) -> None:
    assert release.version_faults() == []
    monkeypatch.setattr(release, "project", lambda: {"version": "9.9.9"})
    faults = release.version_faults(released=True)
    assert [fault.partition(" ")[0] for fault in faults] == ["CITATION.cff", "CHANGELOG.md"]


@pytest.mark.parametrize(("day", "good"), [("2026-11-21", True), ("unreleased", False)])
def test_a_release_has_a_day(
    day: str, good: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "CITATION.cff").write_text("version: 9.9.9\n")
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## 9.9.9 - {day}\n")
    monkeypatch.setattr(release, "project", lambda: {"version": "9.9.9"})
    monkeypatch.setattr(release, "ROOT", tmp_path)
    assert (release.version_faults(released=True) == []) is good


def test_a_release_is_of_what_is_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "version_faults", lambda released: [])
    monkeypatch.setattr(release, "_output", lambda *command: " M sim/flow.py")
    with pytest.raises(SystemExit, match="no release: the tree has changes"):
        release.main()


def test_a_release_whose_wheel_differs_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "DIST", tmp_path / "dist")
    monkeypatch.setattr(release, "version_faults", lambda released: [])
    monkeypatch.setattr(release, "_output", lambda *command: "")
    monkeypatch.setattr(release, "built_three_times", lambda folder: ["a", "a", "b"])
    with pytest.raises(SystemExit, match="the wheel is not the same every time"):
        release.main()
    assert not (tmp_path / "dist").exists()


def test_a_wheel_holds_what_is_to_be_shipped_and_no_more(tmp_path: Path) -> None:
    wheel = release._built(ROOT, tmp_path)
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(n for n in names if n.endswith("/METADATA"))).decode()
    told = f"streamplace-{project()['version']}.dist-info"
    assert {name.partition("/")[0] for name in names} == {"sim", "streamplace", told}
    assert not [name for name in names if name.endswith((".pyc", ".nbi", ".nbc"))]
    wanted = {"sim/py.typed", "streamplace/py.typed", "streamplace/policy/shipped/best.safetensors"}
    assert wanted | {f"{told}/licenses/LICENSE"} <= set(names)
    shipped = {p.relative_to(ROOT).as_posix() for p in (ROOT / "datasets").rglob("*.json")}
    assert {f"streamplace/{name}" for name in shipped} <= set(names)
    assert f"Version: {project()['version']}\n" in metadata


def test_what_is_done_with_a_wheel_can_be_done(tmp_path: Path) -> None:
    """All that a release is tried with, by what is here instead of a wheel."""
    around = {**os.environ, "PYTHONPATH": str(ROOT)}
    told = {"cwd": tmp_path, "env": around, "capture_output": True, "text": True}
    for words in release.COMMANDS:
        command = [sys.executable, "-m", "streamplace.cli.main", *words]
        run = subprocess.run(command, **told, check=False)  # type: ignore[call-overload]
        assert run.returncode == 0, (words, run.stderr)
    run = subprocess.run([sys.executable, "-c", release.TRY], **told, check=True)  # type: ignore[call-overload]
    assert run.stdout.strip() == str(ROOT / "streamplace" / "__init__.py")


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


def test_tests_that_fail_with_other_versions_are_noticed(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    assert versions._told(report)[2] == ["pytest did not come to its end"]
    report.write_text(
        '<testsuites><testsuite><testcase classname="a" name="b"/>'
        '<testcase classname="a" name="c"><failure message="no"/></testcase>'
        '<testcase classname="a" name="d"><skipped/></testcase></testsuite></testsuites>'
    )
    assert versions._told(report) == (1, 1, ["a::c: no"])


@pytest.mark.parametrize(("collected", "missing"), [(4, 0), (5, 1), (3853, 3849), (0, 0)])
def test_a_run_that_is_cut_off_is_not_good(
    collected: int, missing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was collected and never told of counts as wrong; so does a collection of nothing."""
    monkeypatch.setattr(versions, "needed", list)
    row = versions.Tested(collected, 3, 1, [], {}).row("oldest")
    assert row.wrong == {"failures": 0, "never run": missing, "never collected": not collected}
    assert row.good is (collected == 4)


@pytest.mark.parametrize(
    ("said", "count"),
    [
        ("tests/a.py: 3\n4462 tests collected in 20.31s\n", 4462),
        ("1 test collected in 0.1s", 1),
        ("3/8 tests collected (5 deselected) in 0.1s", 3),
        ("no tests collected in 0.1s", 0),
        ("12 tests collected, 1 error in 0.1s", 12),
    ],
)
def test_what_pytest_collects_is_counted(said: str, count: int) -> None:
    assert versions._collected(said) == count


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
