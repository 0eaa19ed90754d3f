"""The bound that a placement file stores, in `explain` and `simulate`."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Capture, json_of, succeeds

FIGURES = ("bound_s", "gap")


@pytest.fixture
def folder(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with the starter files and a placement that is proven."""
    monkeypatch.chdir(tmp_path)
    succeeds(capsys, "init")
    aim = ("--objective", "makespan", "--cluster", "cluster.json")
    succeeds(capsys, "place", "graph.json", *aim, "-o", "p.json")
    return tmp_path


def figures(capsys: Capture, *words: object) -> tuple[float, float]:
    """Return the bound in seconds and the gap that a command prints."""
    bound, gap = map(json_of(capsys, *words).get, FIGURES)
    return bound, gap


def stored(folder: Path, **changes: Any) -> Path:
    """Store the placement with other fields in another file."""
    value = json.loads((folder / "p.json").read_text())
    (folder / "changed.json").write_text(json.dumps({**value, **changes}))
    return folder / "changed.json"


@pytest.mark.parametrize("words", [["explain"], ["simulate", "graph.json"]])
def test_the_proven_bound_of_the_file_is_used(
    words: list[str], folder: Path, capsys: Capture
) -> None:
    proven = json.loads((folder / "p.json").read_text())["bound"]
    assert figures(capsys, *words, "p.json") == (proven, 0.0)
    loose, gap = figures(capsys, *words, stored(folder, bound=None))
    assert loose < proven
    assert gap > 0.1
    assert figures(capsys, *words, stored(folder, bound=loose / 2)) == (loose, gap)
    assert figures(capsys, *words, stored(folder, bound=2 * proven)) == (loose, gap)
    between = (loose + proven) / 2
    assert figures(capsys, *words, stored(folder, bound=between))[0] == between


@pytest.mark.parametrize(
    "words",
    [
        ["explain", "{}", "--batch", "2"],
        ["explain", "{}", "--order", "b-level"],
        ["explain", "{}", "--slow", "gpu1=0.999"],
        ["explain", "{}", "--constraints", "rules.json"],
        ["explain", "{}", "--semantics", "giph"],
        ["simulate", "graph.json", "{}", "--no-barrier", "--batch", "2"],
        ["simulate", "graph.json", "{}", "--cluster", "other.json"],
        ["simulate", "other-graph.json", "{}"],
    ],
    ids=lambda words: " ".join(words[2:]),
)
def test_the_bound_of_another_problem_is_not_used(
    words: list[str], folder: Path, capsys: Capture
) -> None:
    (folder / "rules.json").write_text(json.dumps({"pins": {"clicks": "rack1"}}))
    value = json.loads((folder / "p.json").read_text())
    graph, cluster = value["problem"]["graph"], value["problem"]["cluster"]
    cluster["devices"][0]["mips"] *= 0.999
    (folder / "other.json").write_text(json.dumps(cluster))
    graph["operators"][0]["instructions"] *= 1.001
    (folder / "other-graph.json").write_text(json.dumps(graph))
    without = stored(folder, bound=None)
    expected, changed = ([word.format(file) for word in words] for file in (without, "p.json"))
    assert figures(capsys, *changed) == figures(capsys, *expected)
