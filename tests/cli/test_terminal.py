"""Output on terminals of any width and in files, with --quiet and with NO_COLOR."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from streamplace.cli.terminal import console, print_line, print_table
from streamplace.display.view import Grid, Line, Names
from streamplace.execution.progress import is_quiet
from tests.support.cli import MODULE, Capture, run, succeeds
from tests.support.input_files import GRAPH, InputFiles
from tests.support.long import long_after
from tests.support.terminal import PLAIN, on_terminal

LONG = "com.example.streaming.operators.EnrichmentWithProfile"
COLOUR = re.compile(r"\x1b\[[0-9;]*(?:3[0-8]|9[0-7])")
STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a graph of three operators with long and odd names."""
    names = {"a": f"{LONG}A", "b": "[bold]b[/bold] :smile: \x1b[31m", "c": f"{LONG}C\n名前" * 9}
    text = json.dumps(GRAPH)
    for short, name in names.items():
        text = text.replace(f'"{short}"', json.dumps(name))
    path = tmp_path_factory.mktemp("long") / "graph.json"
    path.write_text(text)
    return path


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_tables_are_as_wide_as_the_terminal(
    columns: int, long_names: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each row is one line: names are shortened in the middle, and lists at the end."""
    monkeypatch.setenv("COLUMNS", str(columns))
    for words in (
        ["place", long_names, "--placer", "round-robin"],
        ["info", long_names],
        ["plan", long_names, "--time-limit", "0.01"],
        ["compare", long_names, "--placers", "metis,metis-recursive-oracle,fuser"],
    ):
        lines = succeeds(capsys, *words).splitlines()
        assert not [line for line in lines if "\x1b" in line]
        table = [
            line
            for line in lines
            if not line.startswith(("placed", "carries", "throughput", "hidden columns"))
        ]
        assert max(map(len, table)) <= columns
    lines = succeeds(capsys, "place", long_names, "--placer", "round-robin").splitlines()
    rows = [line for line in lines if line.startswith("d0 ")]
    assert len(rows) == 1
    assert ("…" in rows[0]) == (columns < 80)
    assert "[bold]b[/bold] :smile: \\x1b[31m" in "".join(lines)


def test_output_to_a_file_is_not_cut(long_names: Path) -> None:
    done = run("place", long_names, "--placer", "round-robin", env=PLAIN)
    assert f"{LONG}C\\n名前" * 9 in done.stdout
    assert "…" not in done.stdout
    assert "\x1b" not in done.stdout


def test_columns_that_do_not_fit_are_hidden(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, inputs: InputFiles
) -> None:
    words = ("compare", inputs.graph, "--placers", "metis-recursive-oracle", "--jobs", "1")
    monkeypatch.setenv("COLUMNS", "70")
    assert "hidden columns: 'ms', 'devices'; --json has all" in succeeds(capsys, *words)
    monkeypatch.setenv("COLUMNS", "44")
    narrow = succeeds(capsys, *words)
    assert "metis-recursive-oracle" in narrow  # the name is always shown
    assert "mean" in narrow
    monkeypatch.setenv("COLUMNS", "120")
    output = succeeds(capsys, *words)
    assert "hidden columns" not in output
    assert "devices" in output


SLOW_WORK = """
import time
from streamplace.execution import progress
progress.DELAY_S = 0.0
with progress.working("placing"):
    time.sleep(0.3)
for _ in progress.track(range(3), 3, "comparing"):
    time.sleep(0.1)
"""


def test_colours_need_a_terminal_and_no_color_unset() -> None:
    """A spinner and a progress bar have colours."""
    command = [sys.executable, "-c", SLOW_WORK]
    output = on_terminal(command)
    assert "placing" in output
    assert COLOUR.search(output)
    output = on_terminal(command, NO_COLOR="1")
    assert "placing" in output
    assert not COLOUR.search(output)
    quiet = SLOW_WORK.replace("progress.DELAY_S", "progress.quietly(); progress.DELAY_S")
    assert on_terminal([sys.executable, "-c", quiet]) == ""


def test_a_table_on_a_terminal(long_names: Path) -> None:
    """A table is as wide as the terminal, and names in it are plain text."""
    words = ["place", str(long_names), "--placer", "round-robin", "--quiet"]  # without a spinner
    lines = STYLE.sub("", on_terminal([*MODULE, *words])).splitlines()
    rows = [line for line in lines if line.startswith("d0 ")]
    assert len(rows) == 1
    assert len(rows[0]) <= 80
    assert "\x1b" not in "".join(lines)


def test_a_narrow_table(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    rows = [("a" * 30 + "z", "1.5"), ("名" * 30, "10")]
    print_table(console(), Grid(("operator", "numbers of it"), len(rows), rows.__getitem__))
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "operator                   numbers of it",
        "aaaaaaaaaaaa…aaaaaaaaaaaz            1.5",
        "名名名名名名…名名名名名名             10",
    ]


def test_lists_of_names_fill_the_remaining_width(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = Names.of([f"operator-{i}" for i in range(20)])
    monkeypatch.setenv("COLUMNS", "60")
    print_line(console(), Line("new here: {} as of today", (names,)))
    grid = Grid(("device", "operators"), 1, lambda i: ("d" * 9, names), names=(0, 1))
    print_table(console(), grid)
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "new here: operator-0, operator-1 and 18 more as of today",
        "device     operators",
        "ddddddddd  operator-0, operator-1, operator-2 and 17 more",
    ]


def test_a_long_line_on_a_terminal_is_wrapped_between_words() -> None:
    """In files and pipes, it stays one line."""
    words = " ".join(f"word{i}" for i in range(40))
    script = "from streamplace.cli.terminal import *; print_line(console(), Line({!r}, ('n m',)))"
    command = [sys.executable, "-c", script.format(words + " {}")]
    lines = [line.rstrip() for line in on_terminal(command).splitlines()]
    assert len(lines) > 3
    assert max(map(len, lines)) <= 80
    assert " ".join(lines) == f"{words} n m"
    done = subprocess.run(command, env=PLAIN, capture_output=True, text=True, check=True)
    assert done.stdout == f"{words} n m\n"


def test_rows_left_out_are_counted(capsys: Capture) -> None:
    grid = Grid(("link",), 7, lambda i: (f"a->b{i}",), max_rows=5, left_out="and {} less busy")
    for limit, last in ((None, "and 2 less busy"), (6, "and 2 less busy"), (1, "and 6 less busy")):
        print_table(console(), grid, limit)
        assert capsys.readouterr().out.splitlines()[-1] == last


@pytest.mark.parametrize(
    "words",
    long_after(
        2,
        [
            ["place", "GRAPH", "--placer", "single", "-o", "-"],
            ["generate", "layered", "-o", "OUT/x.json"],
            ["init", "OUT"],
            ["import", "GRAPHML", "--from", "graphml", "-o", "OUT/g.json"],
        ],
    ),
    ids=lambda words: words[0],
)
def test_quiet_prints_nothing_on_stderr(
    words: list[str], inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    succeeds(capsys, "export", inputs.placement, "--to", "graphml", "-o", tmp_path / "g.graphml")
    files = {"GRAPH": str(inputs.graph), "GRAPHML": str(tmp_path / "g.graphml")}
    runs = {}
    for name in ("loud", "quiet"):
        (tmp_path / name).mkdir()
        arguments = [files.get(word, word).replace("OUT", str(tmp_path / name)) for word in words]
        done = run(*arguments, *["--quiet"] * (name == "quiet"), env=PLAIN)
        assert done.returncode == 0, done.stderr
        runs[name] = done
    assert runs["loud"].stderr != ""
    assert runs["quiet"].stderr == ""
    assert runs["quiet"].stdout.count("\n") == runs["loud"].stdout.count("\n")


def test_quiet_lasts_for_one_command_and_keeps_errors(inputs: InputFiles, capsys: Capture) -> None:
    succeeds(capsys, "info", inputs.graph, "-q")
    assert not is_quiet()
    done = run("place", "nowhere.json", "-q")
    assert (done.returncode, done.stderr) == (
        2,
        "streamplace: nowhere.json: no such file\n",
    )
