"""A release is what it says, and is tried with other versions; what is not is noticed."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from benchmarks.hardening import release, versions
from benchmarks.hardening.forks import ROOT, environment
from benchmarks.hardening.locks import project


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
    told = {"cwd": tmp_path, "env": environment(), "capture_output": True, "text": True}
    for words in release.COMMANDS:
        command = [sys.executable, "-m", "streamplace.cli.main", *words]
        run = subprocess.run(command, **told, check=False)  # type: ignore[call-overload]
        assert run.returncode == 0, (words, run.stderr)
    run = subprocess.run([sys.executable, "-c", release.TRY], **told, check=True)  # type: ignore[call-overload]
    assert run.stdout.strip() == str(ROOT / "streamplace" / "__init__.py")


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
