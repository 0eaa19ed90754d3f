"""Progress of searches on a terminal, through a pseudo-terminal, and none elsewhere."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from streamplace.cli.main import main
from tests.support.cli import run
from tests.support.terminal import PLAIN, Shown, run_on_terminal, screen

SOON = """
import sys
from streamplace.execution import progress
progress.DELAY_S, progress.PER_SECOND = 0.0, 50
from streamplace.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
LINE = re.compile(
    r"placing: best [\d,.]+ tuples/s, bound [\d,.]+( tuples/s)?, gap \d+\.\d\d%, \d+ s"
)
SEARCH = "auto:evaluations=1000000"
FAILING = """
from streamplace.sim import work_clock
def fail(problem, rng, start=None):
    begun = work_clock.now()
    while work_clock.now() < begun + 0.2:
        pass
    raise ValueError("no luck")
"""


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a graph of which no search tries all placements."""
    path = tmp_path_factory.mktemp("graph") / "graph.jsonl"
    words = ("generate", "layered", "--count", "1", "--operators", "120", "--seed", "3", "-q")
    assert main([*words, "-o", str(path)]) == 0
    return path


def shown(*words: object, interrupt_at: str = "") -> Shown:
    """Run a command with stderr on a terminal and stdout in a pipe."""
    command = [sys.executable, "-c", SOON, *map(str, words)]
    return run_on_terminal(command, pipes_stdout=True, interrupt_at=interrupt_at)


def answer(text: str) -> dict[str, Any]:
    """Return what `place --json` prints, without the time that it took."""
    found: dict[str, Any] = json.loads(text)
    del found["seconds"]
    return found


def test_a_search_shows_one_line_that_does_not_stay(graph: Path) -> None:
    """Its last values are those of the answer, which is that without a terminal."""
    words = ("place", graph, "--devices", "6x2500", "--placer", SEARCH, "--json")
    on_terminal, in_pipe = shown(*words), run(*words, env=PLAIN)
    assert (on_terminal.code, in_pipe.returncode) == (0, 0)
    assert LINE.search(on_terminal.output)
    assert screen(on_terminal.output) == screen(in_pipe.stderr)
    assert "placing" not in in_pipe.stderr
    assert answer(on_terminal.piped) == answer(in_pipe.stdout)
    rates = [each.partition("best ")[2] for each in on_terminal.output.split("placing: ")[2:]]
    last = float(rates[-1].split()[0].replace(",", ""))
    assert last == pytest.approx(answer(on_terminal.piped)["max_source_rate"], rel=0.01)


def test_quiet_shows_none(graph: Path) -> None:
    found = shown("place", graph, "--devices", "6x2500", "--placer", "greedy", "--quiet")
    assert (found.code, found.output) == (0, "")


def test_ctrl_c_leaves_the_message_alone(graph: Path) -> None:
    words = ("place", graph, "--devices", "6x2500", "--placer", "auto:seconds=60")
    found = shown(*words, interrupt_at="placing")
    assert found.code == 130
    # the first line is for the ^C that a terminal shows
    assert screen(found.output) == ["", "streamplace: interrupted; no incomplete file was left"]


def test_an_error_leaves_the_message_alone(
    graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "unlucky.py").write_text(FAILING)
    monkeypatch.chdir(tmp_path)
    found = shown("place", graph, "--placer", "unlucky:fail")
    assert found.code == 2
    assert "placing" in found.output
    (line,) = screen(found.output)
    assert line.startswith("streamplace: ")
    assert "no luck" in line


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("plan", "--devices", "2x2500"), r"planning: bound \d devices, \d tried, \d s"),
        (("size", "--devices", "9x2500"), r"sizing: bound \d machines, \d tried, \d s"),
    ],
    ids=("plan", "size"),
)
def test_capacity_shows_what_is_tried(words: tuple[str, ...], line: str, graph: Path) -> None:
    command, *cluster = words
    found = shown(command, graph, *cluster, "--time-limit", "0.2")
    assert found.code == 0
    assert re.search(line, found.output)
    assert " tried" not in "".join(screen(found.output))


def test_without_a_terminal_nothing_is_loaded_for_it(graph: Path) -> None:
    code = f"{SOON[: SOON.index('sys.exit')]}main(sys.argv[1:]); print(*sys.modules)"
    words = ("place", str(graph), "--placer", "greedy", "--quiet", "-o", os.devnull)
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, env=PLAIN, check=True
    )
    assert "streamplace.cli.place" in done.stdout
    assert "rich.live" not in done.stdout
