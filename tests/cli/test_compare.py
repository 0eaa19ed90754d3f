"""`compare`: makespans, clusters of the graphs' own, and equal budgets."""

import csv
from pathlib import Path
from typing import Any

import pytest

import streamplace as sp
from streamplace import Recipe
from streamplace.cli.main import main
from streamplace.cli.param_types import Several, Whole
from streamplace.files import write_clusters, write_dataset
from streamplace.pictures.style import line
from tests.support.cli import Capture, json_of, printed, refused, succeeds

AIM = ("--objective", "makespan")
FILES = {
    "command.json",
    "compare.json",
    "table.csv",
    "graphs.csv",
    "table.md",
    "table.tex",
    "makespan.png",
}
KEYS = (
    "placer", "mean_makespan_s", "mean_own_schedule_s", "mean_slr", "median_slr", "mean_over_heft",
    "over_heft_low", "over_heft_high", "better_than_heft", "worse_than_heft", "own_over_heft",
    "over_first", "over_first_low", "over_first_high", "start", "over_start", "mean_gap",
    "evaluations", "seconds_per_graph", "cpu_seconds_per_graph", "placed",
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
    found = json_of(capsys, *words, "--placers", "heft, round-robin", "--order", "any")
    assert [found[key] for key in ("objective", "order", "graphs", "clusters", "cross")] == [
        "makespan", "any", 3, 3, False,
    ]  # fmt: skip
    assert [tuple(row) for row in found["rows"]] == [KEYS, KEYS]
    heft, other = found["rows"]
    assert heft["mean_over_heft"] == 1.0
    assert other["over_heft_low"] <= other["mean_over_heft"] <= other["over_heft_high"]
    assert heft["mean_own_schedule_s"] > 0.0 < heft["own_over_heft"]
    assert (other["mean_own_schedule_s"], other["own_over_heft"]) == (None, None)


def test_files_of_a_comparison_replace_those_of_the_other_objective(
    folder: Path, tmp_path: Path, capsys: Capture
) -> None:
    words = ("compare", folder / "graphs.jsonl", "--placers", "round-robin", "-o", tmp_path / "out")
    succeeds(capsys, *words, "--source-rate", "1e3")
    notes = printed(capsys, *words, *AIM)[1]
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert f"removed {tmp_path / 'out' / 'throughput.png'}, a file of an earlier" in notes
    succeeds(capsys, *words, "--source-rate", "1e3", "--plots", "none")
    left = {path.name for path in (tmp_path / "out").iterdir()}
    assert left == FILES - {"makespan.png"}


def test_the_picture_of_a_total_cost_is_not_named_after_makespans(
    folder: Path, tmp_path: Path, capsys: Capture
) -> None:
    words = ("compare", folder / "graphs.jsonl", "--placers", "round-robin", "-o", tmp_path / "out")
    succeeds(capsys, *words, *AIM)
    notes = printed(capsys, *words, "--objective", "total-cost")[1]
    expected = FILES - {"makespan.png"} | {"costs.png"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == expected
    assert f"removed {tmp_path / 'out' / 'makespan.png'}" in notes


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
    """Return a dataset of three graphs."""
    path = tmp_path_factory.mktemp("graphs") / "graphs.jsonl"
    recipe = Recipe("layered", 3, range(6, 9), seed=4)
    write_dataset(path, [recipe.graph(number) for number in range(3)])
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


def test_labels_name_placers_in_tables_and_files(
    graphs: Path, tmp_path: Path, capsys: Capture
) -> None:
    words = ["compare", graphs, "--placers", "metis,search:evaluations=20", "--jobs", "1"]
    labels = ["--label", "metis=METIS, k-way", "--label", "search:evaluations=20=a=b_c"]
    for kind in ("csv", "tex", "md"):
        table = tmp_path / f"t.{kind}"
        shown = succeeds(capsys, *words, *labels, "--table", table, "-o", tmp_path / "out")
        assert "vs METIS, k-way: share of graphs" in shown
        assert "difference to METIS, k-way: mean over the graphs" in shown
        assert table.read_bytes().startswith((tmp_path / f"out/table.{kind}").read_bytes()[:60])
    with (tmp_path / "t.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["placer"] for row in rows] == ["METIS, k-way", "a=b_c"]
    assert rows[1]["better_than_metis"] != ""
    assert float(rows[1]["minus_first_low"]) <= float(rows[1]["minus_first"])
    assert r"a=b\_c & " in (tmp_path / "t.tex").read_text()
    found = json_of(capsys, *words, *labels)
    assert found["labels"] == {"METIS, k-way": "metis", "a=b_c": "search:evaluations=20"}


def test_columns_are_chosen_and_ordered(graphs: Path, tmp_path: Path, capsys: Capture) -> None:
    words = ["compare", graphs, "--placers", "metis,greedy", "--jobs", "1"]
    chosen = [*words, "--columns", "ms,difference,mean,interval"]
    for kind in ("csv", "md"):
        shown = succeeds(capsys, *chosen, "--table", tmp_path / f"t.{kind}").splitlines()
    heads = ["placer", "ms", "difference to metis", "mean", "95% interval"]
    assert shown[1].split("  ")[0] == heads[0]
    assert [part.strip() for part in shown[1].split("  ") if part] == heads
    assert f"| {' | '.join(heads)} |" in (tmp_path / "t.md").read_text()
    keys = "placer,seconds_per_graph,minus_first,mean,minus_first_low,minus_first_high"
    assert (tmp_path / "t.csv").read_text().splitlines()[0] == keys
    rates = succeeds(capsys, *words, "--columns", "mean", "--source-rate", "1e3,1e4").splitlines()
    assert rates[1].split() == ["placer", "rate", "mean"], "lines of two rates must not look alike"
    words[3] = "random,climb:evaluations=9"
    costs = succeeds(capsys, *words, "--columns", "ratio", "--objective", "total-cost")
    assert costs.splitlines()[1].split() == ["placer", "over", "random"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--columns", "mean,mena"],
            "--columns: unknown column 'mena'; choose from placer, rate, mean, q1, median, min, "
            "above-0.97, vs-metis, difference, interval, start, over-start, devices, ms, cpu-ms",
        ),
        (["--columns", "difference", *AIM], "--columns: unknown column 'difference'; choose from"),
        (["--label", "metsi=x"], "--label: 'metsi' is not among --placers; did you mean 'metis'?"),
        (["--label", "metis"], "--label: must be PLACER=TEXT (got 'metis')"),
        (["--label", "metis= "], "--label: must be PLACER=TEXT"),
        (["--label", "metis=greedy"], "--label: two placers are called 'greedy'"),
        (["--table", "t.xls"], "'t.xls': unknown table format 'xls'; choose from csv, md, tex"),
        (["--table", "/dev/full"], "'/dev/full': the name has no ending; choose from .csv, .md, "),
        (["--table", "-"], "cannot write a table to stdout; name a .csv, .md or .tex file"),
        (["--table", "nowhere/t.csv"], "nowhere/t.csv"),
        (["--evaluations", "10,5"], "--evaluations: must ascend (got '10,5')"),
        (["--evaluations", "10,x"], "--evaluations: must be a whole number (got 'x')"),
        (["--time-limit", "0.1,inf"], "--time-limit: must be finite and at least 0 (got inf)"),
    ],
)
def test_bad_names_and_tables(
    words: list[str], message: str, graphs: Path, capsys: Capture
) -> None:
    assert message in refused(capsys, "compare", graphs, "--placers", "metis,greedy", *words)


@pytest.mark.parametrize("text", ["100,200", "10,100,500", "50,100,1000"])
def test_budgets_of_three_digits_are_several(text: str) -> None:
    """Only 1,500 and 20,000 are rather one number."""
    found = Several(Whole(1)).convert(text, None, None)
    assert found == tuple(int(part) for part in text.split(","))


@pytest.mark.parametrize("aim", [(), AIM])
def test_several_budgets_are_rows_and_a_picture(
    aim: tuple[str, ...], graphs: Path, tmp_path: Path, capsys: Capture
) -> None:
    words = ["compare", graphs, "--placers", "round-robin,climb,search", "--jobs", "1", *aim]
    more = ["--label", "search=ours", "--evaluations", "5,50", "-o", tmp_path, "--plots", "svg"]
    found: Any = json_of(capsys, *words, *more)
    climb = ["climb:evaluations=5", "climb:evaluations=50"]
    assert names(found) == ["round-robin", *climb, "ours, 5 evaluations", "ours, 50 evaluations"]
    drawn = (tmp_path / "budgets.svg").read_text()
    assert all(f"<!-- {name} -->" in drawn for name in ("round-robin", "climb", "ours"))
    assert "ours, 5" not in drawn
    assert all(f"<!-- {text} -->" in drawn for text in ("evaluations per graph", "5", "50"))
    if not aim:
        largest = (tmp_path / "throughput.svg").read_text()
        assert "<!-- ours, 50 evaluations -->" in largest
        assert "<!-- ours, 5 evaluations -->" not in largest
    notes = printed(capsys, *words, "-o", tmp_path, "--plots", "svg")[1]
    assert f"removed {tmp_path / 'budgets.svg'}, a file of an earlier" in notes


def test_pictures_name_six_placers_and_count_the_others(
    graphs: Path, tmp_path: Path, capsys: Capture
) -> None:
    placers = "metis,greedy,single,random,round-robin,fuser,metis-oracle"
    words = ["compare", graphs, "--placers", placers, "-o"]
    notes = printed(capsys, *words, tmp_path, "--plots", "svg", "--jobs", "1")[1]
    assert "the plot of devices shows the first 6 of 7 placers, not metis-oracle\n" in notes
    for name, shows_all in (("differences", True), ("throughput", False), ("devices", False)):
        drawn = (tmp_path / f"{name}.svg").read_text()
        assert "<!-- fuser -->" in drawn
        assert ("<!-- metis-oracle -->" in drawn) == shows_all
        assert ("<!-- 1 other -->" in drawn) == (name == "throughput")
    looks = [(look["linestyle"], look["color"], look["marker"]) for look in map(line, range(6))]
    assert all(len(set(kind)) == 6 for kind in zip(*looks, strict=True))
