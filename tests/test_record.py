"""Recorded outputs of benchmarks."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import ages, record
from benchmarks.commit import ROOT, running_commit
from tests.support.cli import ENVIRONMENT


def test_an_output_is_recorded_with_its_command_and_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(record, "FOLDER", tmp_path / "results")
    assert record.main(["speed_beside", "--help"]) == 0
    (path,) = (tmp_path / "results").iterdir()
    assert path.name == "speed-beside-help.txt"
    first, second, empty, *rest = path.read_text().splitlines(keepends=True)
    assert first == "python -m benchmarks.speed_beside --help\n"
    assert second.startswith(f"commit {running_commit()}, on 2")
    assert empty == "\n"
    assert "".join(rest) == capfd.readouterr().out


def test_a_run_that_fails_is_not_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(record, "FOLDER", tmp_path)
    assert record.main(["proofs", "--problems", "none"]) == 2
    assert record.main([]) == 2
    assert capfd.readouterr().err.endswith(f"{record.__doc__}\n")
    assert not [*tmp_path.iterdir()]


def test_names_of_files_have_no_paths() -> None:
    words = ["searching", "../shared/data/dream/graphs.jsonl.gz", "--every", "5"]
    assert record.file_of(words).name == "searching-every-5.txt"
    assert record.file_of(["makespans.speed"]).name == "makespans-speed.txt"
    assert record.command(words).startswith("python -m benchmarks.searching ../shared/data")


def test_the_stderr_of_a_script_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(record, "FOLDER", tmp_path / "results")
    script = tmp_path / "some_loop.py"
    script.write_text("import sys; print('result'); print('progress', file=sys.stderr)")
    assert record.main([str(script), "/opt/flink", "3"]) == 0
    (path,) = (tmp_path / "results").iterdir()
    assert path.name == "some-loop-3.txt"
    command, _, _, *rest = path.read_text().splitlines()
    assert command == f"python {script} /opt/flink 3"
    assert rest == ["result", "progress"]


def test_paths_in_the_repository_are_relative() -> None:
    assert record.relative(f"wrote {ROOT}/a.json to '{ROOT}/b'") == "wrote a.json to 'b'"
    assert record.relative(f"from file:{ROOT}/a") == "from file:a"
    assert record.relative(f"below file://{ROOT}/a") == "below file:a"
    elsewhere = f"/mnt{ROOT}/a and {ROOT}-2/a"
    assert record.relative(elsewhere) == elsewhere


def test_an_output_states_its_commit(tmp_path: Path) -> None:
    path = tmp_path / "speed.txt"
    path.write_text("python -m benchmarks.speed\ncommit 0123abcd, on 2026-11-30\n\nrate 9 tuples\n")
    assert ages.stated_commit(path) == "0123abcd"
    path.write_text("python -m benchmarks.speed\n\nthe commit 0123abcd is not of this line\n")
    assert ages.stated_commit(path) is None
    assert ages.stated_commit(tmp_path / "results.jsonl") is None


@pytest.mark.parametrize(
    ("result", "text", "is_named"),
    [
        ("results/speed.txt", "in `speed.txt`", True),
        ("results/speed.txt", "in makespans-speed.txt", False),
        ("results/metis-seeds-50.txt", "results/metis-seeds-50.txt", True),
        (
            "studies/streams/results.jsonl.xz",
            "rows: benchmarks/studies/streams/README.md",
            True,
        ),
        ("studies/streams/results.jsonl.xz", "streams of tuples; studies/streams-too", False),
        ("contention/results.jsonl", "results.jsonl", False),
        ("results/ray-loop/settings.json", "in `benchmarks/results/ray-loop`", True),
        ("results/ray-loop/logs/a.txt", "in `benchmarks/results/ray-loop-2`", False),
        ("results/sizes/a.gz", "`results/sizes/b.gz`", False),
    ],
)
def test_pages_name_a_result_as_a_whole(result: str, text: str, is_named: bool) -> None:
    pattern = ages.name_on_pages(Path("benchmarks", result))
    assert (re.search(pattern, text) is not None) is is_named


def test_a_page_can_name_several_results() -> None:
    path = Path("benchmarks/results/latency-limits.txt")
    assert ages.is_one_of_several(path, "outputs in `benchmarks/results/latency*.txt`")
    assert not ages.is_one_of_several(path, "**bold**, latency.txt and speed*.txt")


@pytest.mark.parametrize(
    ("command", "text", "is_named"),
    [
        ("scale", "`python -m benchmarks.scale` (commit 0123abcd)", True),
        ("scale", "python -m benchmarks.scale  # hours", True),
        ("page", "`python -m benchmarks.record page` with", True),
        ("latency", "`python -m benchmarks.latency_limits`", False),
        ("latency", "`python -m benchmarks.latency --arrivals bursts`", False),
        (
            "searching a/b.gz --every 63",
            "`python -m benchmarks.searching DATASET --every 63`",
            True,
        ),
        (
            "searching a/b.gz --every 63",
            "`python -m benchmarks.searching DATASET --every 6`",
            False,
        ),
        ("makespans.auto --seed 9 --lines FILE", "`benchmarks.makespans.auto --seed 9`", False),
    ],
)
def test_pages_name_a_result_by_its_command(command: str, text: str, is_named: bool) -> None:
    (pattern,) = ages.command_on_pages([f"python -m benchmarks.{command}"])
    assert (re.search(pattern, text) is not None) is is_named


def test_results_of_scripts_have_no_command_of_a_benchmark() -> None:
    assert [*ages.command_on_pages(["python examples/flink/loop.py", "{}"])] == []


def test_results_have_an_age_or_an_unknown_commit(capsys: pytest.CaptureFixture[str]) -> None:
    ages.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 100
    counts = [line[:6].strip() for line in lines]
    known = [int(count) for count in counts if count != "?"]
    assert known == sorted(known, reverse=True)
    assert any("studies/giph/results.jsonl.xz" in line and "docs/" in line for line in lines)
    assert not [line for line in lines if "named on no page" in line]


WITHOUT_DATA = """
import contextlib, io, json, runpy, sys
from pathlib import Path
from benchmarks import released_data
released_data.SHARED = Path("missing")
for name, *words in json.loads(sys.argv[1]):
    sys.argv = [name, *words]
    out, err, code = io.StringIO(), io.StringIO(), None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            runpy.run_module(f"benchmarks.{name}", run_name="__main__")
        except SystemExit as exit_:
            code = exit_.code
    print(json.dumps([name, code, out.getvalue(), err.getvalue().splitlines()]))
"""
"""Runs benchmarks as if their data were missing."""


@pytest.mark.parametrize(
    "commands",
    [
        ["makespans.pipelines", "makespans.quality", "recorded_costs", "recorded_jobs"],
        pytest.param(
            [
                "bounds missing.jsonl",
                "generalise missing.jsonl",
                "makespans.doppler_known benchmarks/studies/doppler",
                "makespans.recorded",
                "metis_seeds missing.jsonl",
                "proofs missing.jsonl",
                "searching missing.jsonl",
                "studies_again --only doppler",
                "studies_lists",
                "studies_rows METIS",
                "studies_tables hsdag benchmarks/studies/hsdag",
            ],
            marks=pytest.mark.long,
        ),
    ],
)
def test_benchmarks_without_their_data_say_what_is_missing(commands: list[str]) -> None:
    words = json.dumps([command.split() for command in commands])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT_DATA, words],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(commands)
    for name, code, out, err in lines:
        assert (code, out) == (2, ""), name
        assert "missing" in err[-1], name


def test_one_module_says_where_the_public_data_are() -> None:
    """Every benchmark that reads them can then say what is missing in the same way."""
    places = [
        path.relative_to(ROOT / "benchmarks").as_posix()
        for path in (ROOT / "benchmarks").rglob("*.py")
        if '"shared"' in path.read_text()
    ]
    assert sorted(places) == ["released_data.py", "supply/versions.py"]  # which links the folder
