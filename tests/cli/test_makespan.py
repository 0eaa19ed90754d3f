"""The makespan objective in `place` and `simulate`."""

import json
from pathlib import Path
from typing import Any

import pytest

import streamplace as sp
from tests.support.cli import Capture, json_of, printed, refused, succeeds

OPERATORS = [
    {"name": name, "instructions": 1e6 * work, "payload_bytes": 1e6}
    for name, work in (("a", 1), ("b", 2), ("c", 3), ("d", 1))
]
STREAMS = [{"source": v, "target": w} for v, w in ("ab", "ac", "bd", "cd")]
GRAPH = {
    "format": "streamplace-graph",
    "version": 1,
    "operators": OPERATORS,
    "streams": STREAMS,
    "firing": "all",
}
CLUSTER = {
    "format": "streamplace-cluster",
    "version": 1,
    "devices": [{"name": "x", "mips": 1}, {"name": "y", "mips": 2}],
    "network": {"kind": "free", "bandwidth_mbps": 8, "latency_s": 0.5},
}
AIM = ("--objective", "makespan")
BOTH = "cannot be combined with --objective makespan"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a graph without a source rate, a cluster and a CSV of a placement."""
    (tmp_path / "graph.json").write_text(json.dumps(GRAPH))
    (tmp_path / "cluster.json").write_text(json.dumps(CLUSTER))
    (tmp_path / "mapping.csv").write_text("operator,device\na,x\nb,x\nc,y\nd,x\n")
    return tmp_path


def placed(folder: Path, capsys: Capture, *options: object) -> dict[str, Any]:
    files = (folder / "graph.json", "--cluster", folder / "cluster.json")
    chosen = (*AIM, "--placer", "round-robin", *options)
    document: dict[str, Any] = json_of(capsys, "place", *files, *chosen)
    return document


def simulated(folder: Path, capsys: Capture, *options: object) -> dict[str, Any]:
    files = (folder / "graph.json", folder / "mapping.csv", "--cluster", folder / "cluster.json")
    document: dict[str, Any] = json_of(capsys, "simulate", *files, *AIM, *options)
    return document


def test_place_prints_the_contract(folder: Path, capsys: Capture) -> None:
    document = placed(folder, capsys, "--order", "b-level")
    assert document["assignment"] == {"a": "x", "b": "y", "c": "x", "d": "y"}
    assert (document["objective"], document["order"]) == ("makespan", "b-level")
    assert document["own_schedule_s"] is None
    assert document["gap"] == pytest.approx(1 - document["bound_s"] / document["makespan_s"])
    assert document["critical_path"][-1] == "d"
    assert [set(device) for device in document["devices"]] == [
        {"name", "utilisation", "operators"}
    ] * 2
    assert document["placer"] == "round-robin"
    assert document["seconds"] >= 0
    assert document["slr"] > 1


def test_simulate_prints_the_schedule(folder: Path, capsys: Capture) -> None:
    document = simulated(folder, capsys)
    assert document["makespan_s"] == 6.5
    assert document["schedule"][2] == {
        "operator": "c",
        "device": "y",
        "start_s": 2.5,
        "finish_s": 4.0,
    }
    assert len(document["transfers"]) == 2


def test_a_placement_file_keeps_the_objective(folder: Path, capsys: Capture) -> None:
    made = placed(folder, capsys, "--order", "any", "--batch", 4, "-o", folder / "placement.json")
    stored = json.loads((folder / "placement.json").read_text())
    assert stored["problem"]["objective"].startswith("makespan")
    assert "source_rate" not in stored["problem"]
    files = (folder / "graph.json", folder / "placement.json")
    assert json_of(capsys, "simulate", *files)["makespan_s"] == made["makespan_s"]
    again = json_of(capsys, "simulate", *files, "--order", "any")
    assert (again["order"], again["makespan_s"]) == (made["order"], made["makespan_s"])
    smaller = json_of(capsys, "simulate", *files, "--batch", 1)
    assert smaller["makespan_s"] < made["makespan_s"]
    read = sp.read_placement(folder / "placement.json")
    assert read.problem.makespan_objective.batch == 4


def test_order_any_of_a_mapping_is_the_best_of_three(folder: Path, capsys: Capture) -> None:
    seconds = [
        simulated(folder, capsys, "--order", order)["makespan_s"]
        for order in ("fifo", "b-level", "topological")
    ]
    assert simulated(folder, capsys, "--order", "any")["makespan_s"] == min(seconds)


def test_semantics_change_the_messages(folder: Path, capsys: Capture) -> None:
    assert simulated(folder, capsys, "--semantics", "giph")["makespan_s"] == 6.5
    assert simulated(folder, capsys, "--semantics", "doppler")["makespan_s"] == 5.5
    placeto = simulated(folder, capsys, "--semantics", "placeto")
    assert placeto["links"][0]["to"] is None


def test_noise_uses_the_seed(folder: Path, capsys: Capture) -> None:
    noise = ("--noise", 0.2, "--repeats", 5)
    first = simulated(folder, capsys, *noise)
    assert first == simulated(folder, capsys, *noise, "--seed", 0)
    assert first["makespan_s"] != simulated(folder, capsys, *noise, "--seed", 1)["makespan_s"]
    assert (first["bound_s"], first["gap"]) == (None, None)


@pytest.mark.parametrize(("noise", "end"), [("100ms", ""), ("20%", "; did you mean 0.2?")])
def test_noise_is_a_share(noise: str, end: str, folder: Path, capsys: Capture) -> None:
    line = refused(capsys, "place", folder / "graph.json", *AIM, "--noise", noise)
    assert f"--noise: must be a number (got {noise!r}){end}" in line


def test_one_pass_has_no_deviation(folder: Path, capsys: Capture) -> None:
    noise = ("--noise", 0.2)
    assert "standard_deviation_s" not in simulated(folder, capsys, *noise)
    assert simulated(folder, capsys, *noise, "--repeats", 2)["standard_deviation_s"] > 0
    files = (folder / "graph.json", folder / "mapping.csv", "--cluster", folder / "cluster.json")
    assert "±" not in succeeds(capsys, "simulate", *files, *AIM, *noise)
    assert "deviation over 2 passes" in succeeds(
        capsys, "simulate", *files, *AIM, *noise, "--repeats", 2
    )


def test_options_that_do_not_fit_are_refused_before_reading(capsys: Capture) -> None:
    for words in (("place", "none.json"), ("simulate", "none.json", "none.csv")):
        assert f"--source-rate: {BOTH}" in refused(capsys, *words, *AIM, "--source-rate", 5)


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_gantt_chart(folder: Path, suffix: str, capsys: Capture) -> None:
    files = (folder / "graph.json", folder / "mapping.csv", "--cluster", folder / "cluster.json")
    succeeds(capsys, "simulate", *files, *AIM, "--gantt", folder / f"chart.{suffix}")
    assert (folder / f"chart.{suffix}").stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--batch", 4), "--batch requires --objective makespan"),
        (("--order", "any"), "--order requires --objective makespan"),
        ((*AIM, "--order", "topo-level"), "is a traversal order, an option of placers: --placer"),
        ((*AIM, "--order", "topologic"), "did you mean 'topological'?"),
        (("--barrier",), "--barrier requires --objective makespan"),
        (("--gantt", "chart.png"), "--gantt requires --objective makespan"),
        (("--semantics", "giph"), "--semantics requires --objective makespan"),
        ((*AIM, "--batch", 0), "--batch: must be at least 1 (got 0)"),
        ((*AIM, "--noise", 2), "noise: must be at least 0 and below 1 (got 2)"),
        ((*AIM, "--repeats", 2), "repeats: without noise, all passes are equal; set noise as well"),
        ((*AIM, "--source-rate", 5), f"streamplace: --source-rate: {BOTH}"),
        ((*AIM, "--model", "engine"), f"streamplace: --model: {BOTH}"),
        ((*AIM, "--target-utilisation", 0.5), f"streamplace: --target-utilisation: {BOTH}"),
        ((*AIM, "--semantics", "gihp"), "did you mean 'giph'?"),
        (("--objective", "makespan:order=lifo"), "order: must be one of fifo"),
        ((*AIM, "--gantt", "chart.txt"), "'chart.txt': unknown picture format"),
        (
            (*AIM, "--gantt", "-"),
            "cannot write a picture to stdout; name a .png, .svg or .pdf file",
        ),
    ],
)
def test_options_that_do_not_fit(
    folder: Path, options: tuple[object, ...], message: str, capsys: Capture
) -> None:
    files = (folder / "graph.json", folder / "mapping.csv", "--cluster", folder / "cluster.json")
    assert message in refused(capsys, "simulate", *files, *options)


def test_options_of_the_engine_need_throughput(folder: Path, capsys: Capture) -> None:
    files = (folder / "graph.json", folder / "mapping.csv", "--cluster", folder / "cluster.json")
    message = refused(capsys, "simulate", *files, *AIM, "--tick", 1)
    assert "--tick is an option of the engine, which simulates only throughput, not obj" in message


def test_confidence_needs_throughput(folder: Path, capsys: Capture) -> None:
    files = (folder / "graph.json", "--cluster", folder / "cluster.json")
    message = refused(capsys, "place", *files, *AIM, "--confidence", 0.9)
    assert "confidence supports only throughput" in message


def test_the_total_cost_is_an_objective_by_name(folder: Path, capsys: Capture) -> None:
    graph, cluster, file = (folder / name for name in ("graph.json", "cluster.json", "cost.json"))
    options = ("--cluster", cluster, "--objective", "total-cost", "--batch", 2)
    placed = json_of(capsys, "place", graph, *options, "--placer", "single", "-o", file)
    assert placed["objective"] == "total-cost"
    # all on the fast device: 7 million instructions twice, and no message
    assert placed["total_cost_s"] == pytest.approx(7.0)
    scored = json_of(capsys, "simulate", graph, file)
    assert scored["total_cost_s"] == placed["total_cost_s"]
    assert json_of(capsys, "simulate", graph, file, "--batch", 4)["total_cost_s"] == pytest.approx(
        14.0
    )
    assert json_of(capsys, "diff", file, file)["total_cost_s"] == [7.0, 7.0]
    fault = refused(capsys, "place", graph, *options, "--source-rate", 3)
    assert "--source-rate: cannot be combined with --objective total-cost" in fault
    assert "supports only makespan and throughput, not total cost; use auto, climb" in refused(
        capsys, "place", graph, *options, "--placer", "search"
    )
    proven = json_of(capsys, "place", graph, *options, "--placer", "exact")
    assert (proven["total_cost_s"], proven["bound_s"], proven["status"]) == (7.0, 7.0, "OPTIMAL")


def test_auto_climbs_for_the_total_cost_and_says_so(folder: Path, capsys: Capture) -> None:
    graph, cluster, file = (folder / name for name in ("graph.json", "cluster.json", "cost.json"))
    options = ("--cluster", cluster, "--objective", "total-cost", "--batch", 2)
    notes = printed(capsys, "place", graph, *options, "-o", file)[1]
    assert notes == "auto ran climb for the total cost\n"
    assert json_of(capsys, "simulate", graph, file)["total_cost_s"] == pytest.approx(7.0)
    climbed = json_of(capsys, "place", graph, *options, "--placer", "climb")
    assert climbed["total_cost_s"] == pytest.approx(14.0)  # from the slow device, x
    fault = refused(capsys, "place", graph, *options, "--prefer", "balance")
    assert "the preference 'balance' supports only throughput, not total cost" in fault


@pytest.mark.parametrize("placer", ["auto", "climb"])
def test_a_placement_is_improved_for_the_total_cost(
    placer: str, folder: Path, capsys: Capture
) -> None:
    graph, cluster, file = (folder / name for name in ("graph.json", "cluster.json", "slow.json"))
    options = ("--cluster", cluster, "--objective", "total-cost", "--batch", 2)
    succeeds(capsys, "place", graph, *options, "--placer", "round-robin", "-o", file)
    again = ("place", graph, *options, "--start", file, "--placer", placer)
    found = json_of(capsys, *again)
    assert found["total_cost_s"] < found["total_cost_before_s"]
    assert found["moves"]
    assert "--max-moves" not in printed(capsys, *again)[1]
    fault = refused(capsys, "place", graph, *options, "--start", file, "--max-moves", 1)
    assert "max_moves and move_cost support only makespan and throughput, not total cost" in fault
