"""The options of `compare` that give all placers the same budget."""

from pathlib import Path
from typing import Any

import pytest

from streamplace import Recipe
from streamplace.cli.main import main
from streamplace.files import write_dataset
from tests.support.cli import Capture, json_of, refused


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dataset of two graphs."""
    path = tmp_path_factory.mktemp("graphs") / "graphs.jsonl"
    recipe = Recipe("layered", 2, range(6, 9), seed=4)
    write_dataset(path, [recipe.graph(number) for number in range(2)])
    return path


def names(found: Any) -> list[str]:
    return [row["placer"] for row in found["rows"]]


def test_evaluations_are_those_of_every_placer_that_counts_them(
    graphs: Path, capsys: Capture
) -> None:
    words = ["compare", str(graphs), "--objective", "makespan", "--jobs", "1", "--json"]
    more = ["--placers", "heft,climb,search,random", "--evaluations", "40"]
    found: Any = json_of(capsys, *words, *more)
    budget = ":evaluations=40"
    assert names(found) == ["heft", f"climb{budget}", f"search{budget}", f"random{budget}"]
    counted = [row["evaluations"] for row in found["rows"]]
    heft, climb, search, random = counted
    assert heft is None
    assert climb == random == 40
    assert 0 < search <= 40  # repeated placements are not evaluated again


def test_placers_without_a_budget_are_named(graphs: Path, capsys: Capture) -> None:
    words = ["compare", str(graphs), "--placers", "metis,greedy,search", "--jobs", "1"]
    for option, value, text in (("--evaluations", "9", "9"), ("--time-limit", "0.01", "0.01")):
        assert main([*words, option, value]) == 0
        printed = capsys.readouterr()
        assert f"{option} does not apply to metis, greedy\n" in printed.err
        assert f"={text}" in printed.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--evaluations", "3", "--time-limit", "1"], "give only one of --evaluations"),
        (["--evaluations", "0"], "--evaluations: must be at least 1 (got 0)"),
        (["--time-limit", "-1"], "--time-limit: must be"),
        (["--placers", "search:seconds=2", "--time-limit", "1"], "already sets a time limit"),
        (["--placers", "policy:beam=2", "--evaluations", "5"], "already sets a number of"),
    ],
)
def test_bad_budgets(words: list[str], message: str, graphs: Path, capsys: Capture) -> None:
    assert message in refused(capsys, "compare", str(graphs), *words)
