"""`compare`: makespans, clusters of the graphs' own, and equal budgets."""

import csv
from pathlib import Path
from typing import Any

import pytest

import streamplace as sp
from streamplace import Recipe
from streamplace.cli.main import main
from streamplace.files import write_clusters, write_dataset
from tests.support.cli import Capture, json_of, printed, refused, succeeds

AIM = ("--objective", "makespan")
FILES = {"compare.json", "table.csv", "graphs.csv", "table.md", "table.tex", "makespan.png"}
KEYS = (
    "placer", "mean_makespan_s", "mean_slr", "median_slr", "mean_over_heft", "over_heft_low",
    "over_heft_high", "better_than_heft", "worse_than_heft", "mean_gap", "evaluations",
    "seconds_per_graph", "placed",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with three graphs and three clusters."""
    path = tmp_path_factory.mktemp("makespans")
    recipe = sp.Recipe("dream", 3, seed=11)
    write_dataset(path / "graphs.jsonl", [recipe.graph(number) for number in range(3)])
    clusters = [sp.Cluster.parse(text) for text in ("2x1000", "3x2000", "1x500,1x4000")]
    write_clusters(path / "clusters.jsonl", clusters)
    return path


def test_rows_have_the_keys_of_the_contract(folder: Path, capsys: Capture) -> None:
    words = ("compare", folder / "graphs.jsonl", "--clusters", folder / "clusters.jsonl", *AIM)
    found = json_of(capsys, *words, "--placers", "heft,round-robin", "--order", "any")
    assert [found[key] for key in ("objective", "order", "graphs", "clusters", "cross")] == [
        "makespan", "any", 3, 3, False,
    ]  # fmt: skip
    assert [tuple(row) for row in found["rows"]] == [KEYS, KEYS]
    heft, other = found["rows"]
    assert heft["mean_over_heft"] == 1.0
    assert other["over_heft_low"] <= other["mean_over_heft"] <= other["over_heft_high"]


def test_files_of_a_comparison_replace_those_of_the_other_objective(
    folder: Path, tmp_path: Path, capsys: Capture
) -> None:
    words = ("compare", folder / "graphs.jsonl", "--placers", "round-robin", "-o", tmp_path / "out")
    succeeds(capsys, *words, "--source-rate", "1e3")
    notes = printed(capsys, *words, *AIM)[1]
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert f"removed {tmp_path / 'out' / 'by_rate.md'}, a file of an earlier" in notes
    succeeds(capsys, *words, "--source-rate", "1e3", "--plots", "none")
    left = {path.name for path in (tmp_path / "out").iterdir()}
    assert not left & {"makespan.png", "table.md", "table.tex"}


def test_every_graph_on_every_cluster(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    words = ("compare", folder / "graphs.jsonl", "--clusters", folder / "clusters.jsonl", "--cross")
    for aim in (AIM, ("--source-rate", "1e3")):
        out = tmp_path / aim[1]
        found = json_of(capsys, *words, *aim, "--placers", "round-robin", "-o", out)
        assert (found["graphs"], found["clusters"]) == (3, 3)
        with (out / "graphs.csv").open() as file:
            assert [row["cluster"] for row in csv.DictReader(file)] == [*"012"] * 3


def test_losses_apply_to_every_cluster(folder: Path, capsys: Capture) -> None:
    words = ("compare", folder / "graphs.jsonl", "--clusters", folder / "clusters.jsonl", *AIM)
    first = sp.Cluster.parse("2x1000").names[0]
    whole, slow = (
        json_of(capsys, *words, "--placers", "round-robin", *more)["rows"][0]["mean_makespan_s"]
        for more in ((), ("--slow", f"{first}=0.5"))
    )
    assert slow > whole


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cross"], "--cross requires --clusters"),
        (
            ["--clusters", "CLUSTERS", "--devices", "2x9"],
            "cannot combine --clusters with --devices",
        ),
        (["--clusters", "CLUSTERS", "--cluster", "x"], "cannot combine --clusters with --cluster"),
        (["--clusters", "TWO"], "two.jsonl: expected 3 clusters, one per graph (got 2); --cross"),
        (["--semantics", "giph"], "--semantics requires --objective makespan"),
        (["--batch", "3"], "--batch requires --objective makespan"),
        (
            [*AIM, "--source-rate", "3"],
            "--source-rate: cannot be combined with --objective makespan",
        ),
        ([*AIM, "--model", "engine"], "--model: cannot be combined with --objective makespan"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: list[str], message: str, folder: Path, tmp_path: Path, capsys: Capture
) -> None:
    lines = (folder / "clusters.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "two.jsonl").write_text("".join(lines[:2]))
    files = {"CLUSTERS": str(folder / "clusters.jsonl"), "TWO": str(tmp_path / "two.jsonl")}
    words = [files.get(word, word) for word in options]
    placers = ("--placers", "round-robin", "-o", tmp_path / "out")
    assert message in refused(capsys, "compare", folder / "graphs.jsonl", *words, *placers)
    assert not list((tmp_path / "out").glob("*.json"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("plan", "g.json"), "--objective: plan finds the throughput that devices sustain"),
        (("train", "g.json", "--config", "best", "-o", "r"), "--config says for which objective"),
        (("profile", "storm", "p", "--mips", "9"), "profile measures costs, which serve every"),
        (("profile", "torch", "nets:Net"), "profile measures costs, which serve every"),
    ],
)
def test_commands_for_throughput_say_so(
    words: tuple[str, ...], message: str, capsys: Capture
) -> None:
    assert message in refused(capsys, *words, *AIM)


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
