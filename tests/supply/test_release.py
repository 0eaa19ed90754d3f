"""Releases, licences and versions of packages."""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import pytest

from benchmarks.supply import licences, release, versions
from benchmarks.supply.locks import project
from hatch_build import KernelsHook
from streamplace.papers.ni2020.study.outcome import weight_files
from streamplace.sim.kernels import __main__ as kernels
from streamplace.sim.kernels import bundle
from streamplace.sim.kernels.signatures import read_signatures
from tests.support.cli import ENVIRONMENT
from tests.support.paths import ROOT


def test_a_release_needs_a_date_and_a_single_version(monkeypatch: pytest.MonkeyPatch) -> None:
    assert release.version_faults() == []
    monkeypatch.setattr(release, "project", lambda: {"version": "9.9.9"})
    faults = release.version_faults(released=True)
    assert [fault.partition(" ")[0] for fault in faults] == ["CITATION.cff", "CHANGELOG.md"]


@pytest.mark.parametrize(
    ("day", "good"), [("2026-11-21", True), ("2026-11-22", False), ("unreleased", False)]
)
def test_a_release_needs_a_date(
    day: str, good: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "CITATION.cff").write_text("version: 9.9.9\ndate-released: 2026-11-21\n")
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## 9.9.9 - {day}\n")
    monkeypatch.setattr(release, "project", lambda: {"version": "9.9.9"})
    monkeypatch.setattr(release, "ROOT", tmp_path)
    assert (release.version_faults(released=True) == []) is good


def test_a_release_needs_a_clean_working_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "version_faults", lambda released: [])
    monkeypatch.setattr(release, "_output", lambda *command: " M sim/flow.py")
    with pytest.raises(SystemExit, match="no release: the working tree has uncommitted changes"):
        release.main()


def test_a_release_needs_reproducible_wheels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "DIST", tmp_path / "dist")
    monkeypatch.setattr(release, "version_faults", lambda released: [])
    monkeypatch.setattr(release, "_output", lambda *command: "")
    monkeypatch.setattr(release, "pack_weights", Path.touch)
    monkeypatch.setattr(release, "wheel_hashes", lambda folder: ["a", "a", "b"])
    with pytest.raises(SystemExit, match="repeated builds give different wheels"):
        release.main()
    assert not (tmp_path / "dist").exists()


@pytest.mark.parametrize("version", ["standard", "editable"])
def test_an_older_python_ends_a_build_before_anything_is_compiled(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pip reads `requires-python` only after it has built the wheel."""
    core = SimpleNamespace(requires_python=project()["requires-python"])
    metadata: Any = SimpleNamespace(core=core)
    target: Any = None
    hook = KernelsHook(str(ROOT), {}, target, metadata, str(ROOT), "wheel")
    monkeypatch.setattr(sys, "version_info", (3, 10, 13, "final", 0))
    monkeypatch.setattr(sys, "version", "3.10.13 (main)")
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or newer; this is 3\.10\.13"):
        hook.initialize(version, {})
    assert "sys.version_info < (3, 11)" in (ROOT / "Makefile").read_text()


def test_a_build_says_how_many_kernels_it_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are counted: a kernel may have several versions."""
    chosen = dict(list(read_signatures().items())[:2])
    monkeypatch.setattr(kernels, "read_signatures", lambda: chosen)
    monkeypatch.setattr(kernels, "_compile", len)
    count = sum(map(len, chosen.values()))
    assert kernels.build(tmp_path) == (count, count)
    assert f"compiling {count} of {count} kernels" in capsys.readouterr().out


def test_a_wheel_contains_exactly_the_files_to_ship(tmp_path: Path) -> None:
    wheel = release._built(ROOT, tmp_path)
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(n for n in names if n.endswith("/METADATA"))).decode()
    info = f"streamplace-{project()['version']}.dist-info"
    assert {name.partition("/")[0] for name in names} == {"streamplace", info}
    assert not [name for name in names if name.endswith((".pyc", ".nbi", ".nbc"))]
    expected = {
        "streamplace/py.typed",
        "streamplace/learning/policy/shipped/best.safetensors",
    }
    assert expected | {f"{info}/licenses/LICENSE"} <= set(names)
    shipped = {p.relative_to(ROOT).as_posix() for p in (ROOT / "datasets").rglob("*.json")}
    assert {f"streamplace/{name}" for name in shipped} <= set(names)
    assert f"Version: {project()['version']}\n" in metadata


@pytest.mark.skipif(not bundle.PATH.exists(), reason="no file of kernels: run make kernels")
def test_a_wheel_with_kernels_is_for_one_python_and_one_machine(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(words, cwd=ROOT, capture_output=True, check=True)
    (wheel,) = tmp_path.glob(f"*-cp3{sys.version_info.minor}-none-*.whl")
    with ZipFile(wheel) as archive:
        assert f"streamplace/sim/kernels/compiled/{bundle.PATH.name}" in archive.namelist()
        name = next(n for n in archive.namelist() if n.endswith("/WHEEL"))
        assert b"Root-Is-Purelib: false" in archive.read(name)


def test_the_weights_of_a_release_are_those_of_the_committed_table(tmp_path: Path) -> None:
    commit = ["git", "cat-file", "-e", release.WITH_WEIGHTS]
    if subprocess.run(commit, cwd=ROOT, capture_output=True, check=False).returncode:
        pytest.skip("a shallow clone lacks the commit with the weights")
    release.pack_weights(tmp_path / "weights.zip")
    with ZipFile(tmp_path / "weights.zip") as archive:
        archive.extractall(tmp_path)
    plan = json.loads((ROOT / "benchmarks/studies/dream/study.json").read_text())
    found = weight_files(tmp_path / release.ALLOCATORS)
    hashes = {name: sha256(file.read_bytes()).hexdigest()[:16] for name, file in found.items()}
    assert hashes == plan["settings"]["weights_sha256"]


def test_a_history_without_the_weights_ends_a_release_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "WITH_WEIGHTS", "0" * 40)
    monkeypatch.setattr(release, "DIST", tmp_path / "dist")
    monkeypatch.setattr(release, "version_faults", lambda released: [])
    monkeypatch.setattr(release, "_output", lambda *command: "")
    with pytest.raises(SystemExit, match=r"no release: the history lacks 0+:benchmarks/weights/b"):
        release.main()
    assert not (tmp_path / "dist").exists()


def fake_python(path: Path, code: int) -> str:
    """Write a program that ends with an exit code whatever it is asked; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nexit {code}\n")
    path.chmod(0o755)
    return str(path)


def test_pythons_are_found_on_the_path_and_in_pyenv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot make environments does not count, such as pyenv's command for another version."""
    monkeypatch.setattr(release, "MINORS", (77, 78, 79, sys.version_info.minor))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    fake_python(tmp_path / "bin" / "python3.77", 127)
    expected = {
        77: fake_python(tmp_path / "pyenv" / "versions" / "3.77.1" / "bin" / "python", 0),
        78: fake_python(tmp_path / "bin" / "python3.78", 0),
        sys.version_info.minor: sys.executable,
    }
    assert release.pythons() == expected


@pytest.mark.parametrize(
    "commands",
    [
        release.COMMANDS,
        pytest.param((release.COMMANDS[0], *release.LEARNING), marks=pytest.mark.long),
    ],
    ids=("all", "learn"),
)
def test_the_trial_commands_of_a_release_succeed(
    commands: tuple[tuple[str, ...], ...], tmp_path: Path
) -> None:
    """The commands with which a built wheel is tried out also run in the working tree."""
    options = {"cwd": tmp_path, "env": ENVIRONMENT, "capture_output": True, "text": True}
    for words in commands:
        command = [sys.executable, "-m", "streamplace.cli.main", *words]
        run = subprocess.run(command, **options, check=False)  # type: ignore[call-overload]
        assert run.returncode == 0, (words, run.stderr)
    run = subprocess.run([sys.executable, "-c", release.TRY], **options, check=True)  # type: ignore[call-overload]
    assert run.stdout.strip() == str(ROOT / "streamplace" / "__init__.py")


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


def test_tests_that_fail_with_other_versions_are_noticed(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    assert versions._results(report)[2] == ["pytest did not finish"]
    report.write_text(
        '<testsuites><testsuite><testcase classname="a" name="b"/>'
        '<testcase classname="a" name="c"><failure message="no"/></testcase>'
        '<testcase classname="a" name="d"><skipped/></testcase></testsuite></testsuites>'
    )
    assert versions._results(report) == (1, 1, ["a::c: no"])


@pytest.mark.parametrize(("collected", "missing"), [(4, 0), (5, 1), (3853, 3849), (0, 0)])
def test_a_run_that_is_cut_off_is_not_good(collected: int, missing: int) -> None:
    """Collected tests without a result count as faults, and so does an empty collection."""
    outcome = versions.Outcome(collected, 3, 1, [], {})
    assert outcome.missing == missing
    assert outcome.good is (collected == 4)


@pytest.mark.parametrize(
    ("output", "count"),
    [
        ("tests/a.py: 3\n4462 tests collected in 20.31s\n", 4462),
        ("1 test collected in 0.1s", 1),
        ("3/8 tests collected (5 deselected) in 0.1s", 3),
        ("no tests collected in 0.1s", 0),
        ("12 tests collected, 1 error in 0.1s", 12),
    ],
)
def test_the_number_of_collected_tests_is_parsed(output: str, count: int) -> None:
    assert versions._collected(output) == count
