"""Each command beside the function of Python that it calls."""

import json
from pathlib import Path
from typing import Any

import pytest

import streamplace as sp
from tests.corpus.engine_documents import DOCUMENTS
from tests.support.cli import Capture, json_of, succeeds
from tests.support.input_files import chain

OBJECTIVES = {"throughput": (), "makespan": ("--objective", "makespan", "--batch", "4")}
PLACEMENT = sp.Placement.of(
    sp.Problem(sp.StreamGraph([("a", 1e4, 100)], [], source_rate=1.0)), {"a": "d0"}
)
FAULTS: dict[str, tuple[Any, str]] = {
    "explain": (lambda: sp.explain("placement.json"), "explain: placement must be Placement"),  # type: ignore[arg-type]
    "diff": (lambda: sp.diff(PLACEMENT, "b.json"), "diff: b must be Placement, not str"),  # type: ignore[arg-type]
    "report of a file": (lambda: sp.report("p.json"), "report: placements must be Placement"),  # type: ignore[arg-type]
    "report of none": (lambda: sp.report({}), "report: placements is empty"),
    "report of an entry": (lambda: sp.report({"a": 1}), r"placements\['a'\] must be Placement"),  # type: ignore[dict-item]
    "export": (lambda: sp.export(PLACEMENT, "flnk"), "unknown format 'flnk'; did you mean 'flink'"),
    "export of none": (lambda: sp.export(None, "csv"), "export: csv needs a placement"),
    "export of a file": (lambda: sp.export("p.json", "csv"), "placement must be Placement"),  # type: ignore[arg-type]
    "export without a plan": (
        lambda: sp.export(PLACEMENT, "flink-deployment"),
        "missing plan: flink-deployment needs the ids",
    ),
    "export with a plan": (
        lambda: sp.export(PLACEMENT, "csv", plan="plan.json"),
        "plan is for flink-deployment, not csv",
    ),
    "generate": (lambda: sp.generate("laiered"), "did you mean 'layered'"),
    "generate none": (lambda: sp.generate("layered", 0), "count must be 1 to"),
    "generate of a size": (lambda: sp.generate("layered", 1, "10"), "sizes must be range"),  # type: ignore[arg-type]
    "read_job": (lambda: sp.read_job("x.json", "flink-pln"), "did you mean 'flink-plan'"),
    "read_job of no file": (lambda: sp.read_job("no.json", "flink-plan"), "no.json"),
    "read_job in a form": (
        lambda: sp.read_job("x.dot", "dot", form="fold"),  # type: ignore[arg-type]
        "unknown form 'fold'; did you mean 'folded'",
    ),
    "read_job with devices": (
        lambda: sp.read_job("x.dot", "dot", device_count=3),
        "device_count is for dax or doppler or pipedream, not dot",
    ),
    "read_job with inputs": (
        lambda: sp.read_job("x.dot", "dot", inputs=["1x3"]),
        "inputs is for torch or openvino or onnx, not dot",
    ),
}


@pytest.fixture(params=OBJECTIVES)
def files(request: pytest.FixtureRequest, tmp_path: Path, capsys: Capture) -> Path:
    """Return a folder with two placements of a graph, a.json and b.json."""
    graph = tmp_path / "graph.json"
    graph.write_text(json.dumps(chain("abcd", 1e6, source_rate=900)))
    for name, placer in (("a", "random"), ("b", "exact")):
        place = ("place", graph, "--devices", "3x1000", "--placer", placer)
        succeeds(capsys, *place, *OBJECTIVES[request.param], "-o", tmp_path / f"{name}.json")
    return tmp_path


def same(got: dict[str, Any], expected: Any) -> None:
    """Check that a result has the figures that the command prints."""
    assert json.loads(json.dumps(got)) == expected


def test_explain(files: Path, capsys: Capture) -> None:
    placement = sp.read_placement(files / "a.json")
    same(sp.explain(placement).to_dict(), json_of(capsys, "explain", files / "a.json"))


def test_explain_and_report_have_the_bound_of_a_result(files: Path, capsys: Capture) -> None:
    placement = sp.read_placement(files / "b.json")
    problem, aim = placement.problem, placement.problem.objective
    rate = {} if aim.is_pass else {"source_rate": 900.0}
    objective = {"objective": aim} if aim.is_pass else {}
    result = sp.place(problem.graph, problem.cluster, placer="exact", **rate, **objective)  # type: ignore[call-overload]
    result.save(files / "b.json")
    same(sp.explain(result).to_dict(), json_of(capsys, "explain", files / "b.json"))
    options = ("report", files / "b.json", "-o", files / "page.html")
    (row,) = json_of(capsys, *options)["placements"]
    assert row.pop("file") == str(files / "b.json")
    same(sp.report(result).to_dict(), {"placements": [row]})


def test_diff(files: Path, capsys: Capture) -> None:
    a, b = (sp.read_placement(files / f"{name}.json") for name in "ab")
    same(sp.diff(a, b).to_dict(), json_of(capsys, "diff", files / "a.json", files / "b.json"))


def test_report(files: Path, capsys: Capture) -> None:
    page = files / "page.html"
    names = [files / "a.json", files / "b.json"]
    expected = json_of(capsys, "report", *names, "-o", page)["placements"]
    found = sp.report({name.name: sp.read_placement(name) for name in names})
    for row, (file, other) in zip(
        found.to_dict()["placements"], zip(names, expected, strict=True), strict=True
    ):
        assert other.pop("file") == str(file)
        del row["placer"], other["placer"]  # only the file says which it was
        assert json.loads(json.dumps(row)) == pytest.approx(other)
    found.save(page)
    assert "a.json" in page.read_text()


@pytest.mark.parametrize("kind", ["json", "csv", "flink", "kubernetes", "dot"])
def test_export(files: Path, capsys: Capture, kind: str) -> None:
    result = sp.place(sp.read_graph(files / "graph.json"), "3x1000", placer="greedy")
    result.save(files / "result.json")
    to = ("export", files / "result.json", "--to", kind)
    capsys.readouterr()
    expected = succeeds(capsys, *to)
    found = sp.export(result, kind)
    assert found.text == expected
    found.save(files / "export")
    assert (files / "export").read_text() == expected


def test_export_says_what_is_lost_and_assumed(files: Path, capsys: Capture) -> None:
    result = sp.place(sp.read_graph(files / "graph.json"), "3x1000", placer="greedy")
    found = sp.export(result, "storm-ras")
    assert found.assumed
    for sentence in (*found.lost, *found.assumed):
        assert sentence in found.text


def test_export_of_a_program() -> None:
    assert "class" in sp.export(None, "flink-helper").text


def test_generate(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "graphs.jsonl"
    succeeds(
        capsys, "generate", "layered", "--count", 3, "--operators", 12, "--seed", 5, "-o", file
    )
    graphs = list(sp.generate("layered", 3, 12, seed=5, jobs=1))
    assert graphs == list(sp.read_dataset(file))


def test_read_job(tmp_path: Path, capsys: Capture) -> None:
    job, costs = tmp_path / "job.dot", tmp_path / "costs.csv"
    job.write_text("digraph { a -> c; b -> c }")
    costs.write_text("operator,instructions,payload_bytes,selectivity\na,1e4,100,1\n")
    out = tmp_path / "graph.json"
    words = ("import", job, "--from", "dot", "--costs", costs, "-o", out)
    expected = json_of(capsys, *words)
    found = sp.read_job(job, "dot", costs=costs)
    assert found.notes
    same(found.to_dict(), {key: expected[key] for key in found.to_dict()})
    assert found.graph.sha256 == sp.read_graph(out).sha256


def test_read_job_with_a_cluster(tmp_path: Path, capsys: Capture) -> None:
    job, cluster = tmp_path / "graph.txt", tmp_path / "cluster.json"
    job.write_text(DOCUMENTS["doppler"][0])
    words = ("import", job, "--from", "doppler", "-o", tmp_path / "graph.json")
    for count, options in ((None, ()), (3, ("--device-count", 3))):
        succeeds(capsys, *words, "--cluster-out", cluster, *options)
        found = sp.read_job(job, "doppler", device_count=count)
        assert found.cluster == sp.read_cluster(cluster)
        assert found.devices_assumed == (count is None)


@pytest.mark.long
def test_train(tmp_path: Path, capsys: Capture) -> None:
    dataset, config = tmp_path / "graphs.jsonl", tmp_path / "tiny.toml"
    config.write_text(
        '[policy]\nkind = "device-scorer"\nsizes = { hidden = 8, hops = 1 }\n'
        '[[stage]]\nalgorithm = "reinforce"\nepochs = 1\nproblems_per_step = 4\nsamples = 2\n'
    )
    graphs = list(sp.generate("layered", 4, 10))
    sp.write_dataset(dataset, graphs)
    expected = json_of(capsys, "train", dataset, "--config", config, "-o", tmp_path / "run")
    found = sp.train(graphs, str(config), tmp_path / "own").to_dict()
    for one in (expected, found):
        assert Path(one.pop("policy")).name == "policy.safetensors"
    same(found, expected)
    with pytest.raises(sp.StreamplaceError, match="did you mean 'best'"):
        sp.train(graphs, "bests", tmp_path / "other")


@pytest.mark.parametrize("name", FAULTS)
def test_bad_arguments(name: str) -> None:
    call, message = FAULTS[name]
    with pytest.raises(sp.StreamplaceError, match=message):
        call()
