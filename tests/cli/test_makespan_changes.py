"""`explain`, `diff` and `place --start` under the makespan objective."""

import json
from pathlib import Path
from typing import Any

import pytest

import streamplace as sp
from streamplace.cli.main import main
from tests.support.cli import Capture, json_of, refused, succeeds
from tests.support.schedule_cases import schedule_form

AIM = ("--objective", "makespan")
FORM = schedule_form("a:2 b:3 c:4 d:1@1", "a>b:1 a>c:2 b>d:1 c>d:1", network={"kind": "egress"})
HEADS = {"graph": "streamplace-graph", "cluster": "streamplace-cluster"}


@pytest.fixture
def folder(tmp_path: Path, capsys: Capture) -> Path:
    """Return a folder with a graph, a cluster and a placement for a batch of 4 by b-level."""
    for name, kind in HEADS.items():
        document = {"format": kind, "version": 1, **FORM[name]}  # type: ignore[literal-required]
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    rows = [f"{operator},{device}" for operator, device in FORM["placement"].items()]
    (tmp_path / "mapping.csv").write_text("\n".join(["operator,device", *rows]))
    files = (tmp_path / "graph.json", "--cluster", tmp_path / "cluster.json")
    settings = (*AIM, "--batch", 4, "--order", "b-level", "--placer", "single")
    succeeds(capsys, "place", *files, *settings, "-o", tmp_path / "placement.json")
    return tmp_path


def explained(folder: Path, capsys: Capture, *options: object) -> dict[str, Any]:
    document: dict[str, Any] = json_of(capsys, "explain", folder / "placement.json", *options)
    return document


def replaced(folder: Path, capsys: Capture, *options: object) -> dict[str, Any]:
    start = ("--start", folder / "placement.json")
    document: dict[str, Any] = json_of(capsys, "place", folder / "graph.json", *start, *options)
    return document


def test_explain_prints_the_contract(folder: Path, capsys: Capture) -> None:
    found = explained(folder, capsys)
    assert (found["objective"], found["order"]) == ("makespan", "b-level")
    assert found["critical_path"][-1] == "d"
    parts = {name: part for name, part in found["division"].items() if name != "chain"}
    assert sum(parts.values()) == pytest.approx(found["makespan_s"])
    assert found["gap"] == pytest.approx(1 - found["bound_s"] / found["makespan_s"])
    ends = [step["end_s"] for step in found["steps"]]
    assert ends[-1] == found["makespan_s"]
    for move in found["moves"]:
        assert move["makespan_s"] == pytest.approx(found["makespan_s"] - move["gain_s"])
    assert found["moves"]
    assert found["every_move_tried"]
    assert found["violations"] == []


def test_a_move_that_explain_lists_has_the_makespan_that_simulate_prints(
    folder: Path, capsys: Capture
) -> None:
    move = explained(folder, capsys)["moves"][0]
    document = json.loads((folder / "placement.json").read_text())
    document["assignment"] |= dict.fromkeys(move["operators"], move["to"])
    (folder / "moved.json").write_text(json.dumps(document))
    files = (folder / "graph.json", folder / "moved.json")
    assert json_of(capsys, "simulate", *files)["makespan_s"] == move["makespan_s"]
    compared = json_of(capsys, "diff", folder / "placement.json", folder / "moved.json")
    assert compared["makespan_s"][1] == move["makespan_s"]
    assert [row["operator"] for row in compared["moves"]] == move["operators"]


def test_explain_takes_the_options_of_makespans(folder: Path, capsys: Capture) -> None:
    found = explained(folder, capsys, "--batch", 1, "--order", "fifo", "--semantics", "giph")
    assert found["order"] == "fifo"
    assert found["makespan_s"] < explained(folder, capsys)["makespan_s"]
    assert "makespan" in succeeds(capsys, "explain", folder / "placement.json", "--top", 1)
    noisy = explained(folder, capsys, "--noise", 0.1, "--repeats", 3)
    assert noisy["standard_deviation_s"] > 0


def test_explain_of_a_placement_for_throughput(folder: Path, capsys: Capture) -> None:
    graph = json.loads((folder / "graph.json").read_text())
    del graph["firing"]
    (folder / "streams.json").write_text(json.dumps(graph))
    place = ("place", folder / "streams.json", "--devices", "2x5", "--source-rate", 0.1)
    succeeds(capsys, *place, "--placer", "round-robin", "-o", folder / "placement.json")
    assert "throughput" in explained(folder, capsys)
    assert explained(folder, capsys, *AIM)["order"] == "fifo"
    message = refused(capsys, "explain", folder / "placement.json", "--batch", 2)
    assert "--batch requires --objective makespan" in message
    file = folder / "placement.json"
    both = json_of(capsys, "diff", file, file, *AIM)
    assert both["makespan_s"][0] == both["makespan_s"][1]
    assert "throughput" in json_of(capsys, "diff", file, file)


@pytest.mark.parametrize(
    "options", [("--against", "http://localhost:1"), ("--constraint-costs",)], ids=lambda o: o[0]
)
def test_explain_refuses_what_needs_throughput(
    folder: Path, options: tuple[str, ...], capsys: Capture
) -> None:
    message = refused(capsys, "explain", folder / "placement.json", *options)
    assert f"{options[0]} supports only throughput, not objective 'makespan'" in message


def test_diff_of_two_objectives_says_what_it_compares(folder: Path, capsys: Capture) -> None:
    whole = sp.read_placement(folder / "placement.json")
    aim = sp.Makespan(batch=8)
    other = sp.Placement(whole.problem.with_objective(aim), whole.devices)
    sp.write_placement(folder / "other.json", other)
    files = (folder / "placement.json", folder / "other.json")
    text = succeeds(capsys, "diff", *files)
    assert "scored under makespan:batch=4:order=b-level and under makespan:batch=8" in text
    same = json_of(capsys, "diff", *files, *AIM, "--batch", 2, "--order", "fifo")
    assert same["makespan_s"][0] == same["makespan_s"][1]


def test_a_start_gives_objective_order_and_batch(folder: Path, capsys: Capture) -> None:
    before = json_of(capsys, "simulate", folder / "graph.json", folder / "placement.json")
    found = replaced(folder, capsys, "--max-moves", 1)
    assert (found["objective"], found["order"]) == ("makespan", "b-level")
    assert found["makespan_before_s"] == found["makespan_without_moves_s"] == before["makespan_s"]
    assert found["makespan_s"] < before["makespan_s"]
    assert (len(found["moves"]), found["fewest_moves"]) == (1, 0)
    assert found["placer"] == "migrate:max_moves=1"
    assert found["makespan_s"] == explained(folder, capsys)["moves"][0]["makespan_s"]


def test_options_count_more_than_the_start(folder: Path, capsys: Capture) -> None:
    changed = replaced(folder, capsys, *AIM, "--order", "fifo", "--batch", 1, "--max-moves", 0)
    assert changed["order"] == "fifo"
    files = (folder / "graph.json", folder / "placement.json")
    again = json_of(capsys, "simulate", *files, "--order", "fifo", "--batch", 1)
    assert changed["makespan_s"] == again["makespan_s"]


def test_the_batch_of_the_start_remains_if_only_the_order_changes(
    folder: Path, capsys: Capture
) -> None:
    files = (folder / "graph.json", folder / "placement.json")
    again = json_of(capsys, "simulate", *files, "--order", "fifo")
    for options in (("--order", "fifo"), (*AIM, "--order", "fifo")):
        changed = replaced(folder, capsys, *options, "--max-moves", 0)
        assert (changed["order"], changed["makespan_s"]) == ("fifo", again["makespan_s"])


def test_settings_in_the_objective_replace_those_of_the_placement(
    folder: Path, capsys: Capture
) -> None:
    """Only ``makespan`` without settings keeps them, also where settings are the defaults."""
    files = (folder / "graph.json", folder / "placement.json")
    stored = json_of(capsys, "simulate", *files)
    assert json_of(capsys, "simulate", *files, *AIM) == stored
    fifo = json_of(capsys, "simulate", *files, "--batch", 1, "--order", "fifo")
    assert fifo["makespan_s"] < stored["makespan_s"]
    default = ("--objective", "makespan:order=fifo:batch=1")
    assert json_of(capsys, "simulate", *files, *default) == fifo
    assert explained(folder, capsys, *default)["makespan_s"] == fifo["makespan_s"]
    again = replaced(folder, capsys, *default, "--max-moves", 0)
    assert (again["order"], again["makespan_s"]) == ("fifo", fifo["makespan_s"])
    compared = json_of(capsys, "diff", files[1], files[1], *default)
    assert compared["makespan_s"] == [fifo["makespan_s"]] * 2
    report = ("report", files[1], "-o", folder / "report.html", *default)
    assert json_of(capsys, *report)["placements"][0]["makespan_s"] == fifo["makespan_s"]


def test_stored_settings_can_be_switched_off(folder: Path, capsys: Capture) -> None:
    files = (folder / "graph.json", folder / "placement.json")
    plain = json_of(capsys, "simulate", *files)
    both = ("--barrier", "--inputs-everywhere")
    start = ("--start", folder / "placement.json", "--max-moves", 0, "-o", folder / "both.json")
    succeeds(capsys, "place", folder / "graph.json", *start, *both)
    stored = sp.read_placement(folder / "both.json").problem.makespan_objective
    assert stored.barrier
    assert stored.inputs_everywhere
    off = ("--no-barrier", "--no-inputs-everywhere")
    assert json_of(capsys, "simulate", files[0], folder / "both.json", *off) == plain


def test_a_makespan_without_a_source_rate_as_start_of_throughput(
    folder: Path, capsys: Capture
) -> None:
    graph = json.loads((folder / "graph.json").read_text())
    del graph["firing"]
    (folder / "graph.json").write_text(json.dumps(graph))
    files = ("place", folder / "graph.json", "--cluster", folder / "cluster.json")
    succeeds(capsys, *files, *AIM, "--placer", "single", "-o", folder / "placement.json")
    file, aim = folder / "placement.json", ("--objective", "throughput")
    found = replaced(folder, capsys, *aim, "--source-rate", 0.01, "--max-moves", 0)
    assert found["throughput"] > 0
    asked = ("simulate", folder / "graph.json", file, *aim, "--source-rate", 0.01)
    assert json_of(capsys, *asked)["throughput"] == found["throughput"]
    for words in (("explain", file), ("diff", file, file), ("report", file, "-o", "r.html")):
        message = refused(capsys, *words, *aim)
        assert f"{file}: the placement has no source rate, which throughput requires" in message
    start = ("place", folder / "graph.json", "--start", file)
    message = refused(capsys, *start, "--source-rate", 1)
    assert f"--source-rate: cannot be combined with the makespan of {file}" in message


def test_the_line_of_a_migration_names_the_makespans_in_order(
    folder: Path, capsys: Capture
) -> None:
    start = ("place", folder / "graph.json", "--start", folder / "placement.json")
    text = succeeds(capsys, *start, "--slow", "d0=0.5,d1=0.5", "--max-moves", 1)
    found = replaced(folder, capsys, "--slow", "d0=0.5,d1=0.5", "--max-moves", 1)
    names = ("makespan_before_s", "makespan_without_moves_s", "makespan_s")
    before, without, now = (found[name] for name in names)
    assert f"makespan {before:g} s before, {without:g} s without moves, {now:g} s with all" in text


def test_what_comes_from_the_start_is_printed(folder: Path, capsys: Capture) -> None:
    start = ("place", folder / "graph.json", "--start", folder / "placement.json")
    noted = {
        (): "cluster of 2 devices; objective makespan:batch=4:order=b-level",
        ("--batch", "4"): "cluster of 2 devices; order=b-level",
        ("--batch", "1", "--order", "fifo"): "cluster of 2 devices",
    }
    for options, note in noted.items():
        main([str(word) for word in (*start, "--max-moves", 0, *options)])
        assert f"placement.json: {note}\n" in capsys.readouterr().err


def test_any_order_counts_although_the_start_has_one(folder: Path, capsys: Capture) -> None:
    files = (folder / "graph.json", folder / "placement.json")
    orders = ("fifo", "b-level", "topological")
    scores = [json_of(capsys, "simulate", *files, "--order", order) for order in orders]
    found = replaced(folder, capsys, "--order", "any", "--max-moves", 0)
    assert found["makespan_s"] == min(score["makespan_s"] for score in scores)


def test_a_lost_device_forces_moves(folder: Path, capsys: Capture) -> None:
    found = replaced(folder, capsys, "--without", "d0", "--max-moves", 0)
    assert {row["from"] for row in found["moves"]} == {"d0"}
    assert all(row["forced"] for row in found["moves"])
    assert set(found["assignment"].values()) == {"d1"}
    assert found["makespan_s"] == 4 * (2 + 3 + 4 + 1)


def test_a_slow_device_in_a_placement_file(folder: Path, capsys: Capture) -> None:
    """Times by kind are longer too, and the file of the result has the slow kind."""
    graph, cluster = FORM["graph"], FORM["cluster"]
    operators = [{**row, "seconds_on": {"gpu": 0.5}} for row in graph["operators"]]
    devices = [{**row, "kind": "gpu"} for row in cluster["devices"]]
    for name, fields in (("graph", {"operators": operators}), ("cluster", {"devices": devices})):
        old = json.loads((folder / f"{name}.json").read_text())
        (folder / f"{name}.json").write_text(json.dumps({**old, **fields}))
    files = (folder / "graph.json", "--cluster", folder / "cluster.json", *AIM)
    single = ("--placer", "single", "--without", "d1", "-o", folder / "one.json")
    assert json_of(capsys, "place", *files, *single)["makespan_s"] == 2.0
    slow = ("--start", folder / "one.json", "--slow", "d0=0.5", "--max-moves", 0)
    options = (*slow, "-o", folder / "slow.json")
    found = json_of(capsys, "place", folder / "graph.json", *options)
    assert found["makespan_s"] == 4.0
    again = json_of(capsys, "simulate", folder / "graph.json", folder / "slow.json")
    assert again["makespan_s"] == 4.0
    explained_slow = json_of(capsys, "explain", folder / "one.json", "--slow", "d0=0.25")
    assert explained_slow["makespan_s"] == 8.0


def test_move_cost(folder: Path, capsys: Capture) -> None:
    """Without memory, moves cost nothing; a preference for balance is refused."""
    free = replaced(folder, capsys, "--move-cost", 1e6)
    assert free["makespan_s"] < free["makespan_before_s"]
    start = ("place", folder / "graph.json", "--start", folder / "placement.json")
    message = refused(capsys, *start, "--max-moves", 1, "--prefer", "balance")
    assert "migrate: the preference 'balance' supports only throughput, not makespan" in message
