"""place -> simulate, export, diff, compare -o: what one command writes another reads."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from streamplace.files import read_graph
from streamplace.files.clusters import cluster_to
from streamplace.files.schema import PlacementForm
from streamplace.problem.cluster import Cluster
from tests.cli.command import Capture, refused, succeeds
from tests.cli.conftest import Job


def scored(capsys: Capture, *arguments: object) -> dict[str, Any]:
    """Return what a command prints with --json."""
    found: dict[str, Any] = json.loads(succeeds(capsys, *arguments, "--json"))
    return found


def test_the_file_carries_its_whole_problem(job: Job, tmp_path: Path, capsys: Capture) -> None:
    """`simulate` scores it as `place` did, without being told cluster, rate or model again."""
    placement = tmp_path / "placement.json"
    problem = ["--cluster", job.cluster, "--source-rate", "5e6", "--model", "path-average"]
    placed = scored(capsys, "place", job.graph, *problem, "-o", placement)
    again = scored(capsys, "simulate", job.graph, placement)
    assert again == {key: placed[key] for key in again}
    assert again["relative_throughput"] < 1


def test_what_simulate_is_told_goes_before_the_file(job: Job, capsys: Capture) -> None:
    own = scored(capsys, "simulate", job.graph, job.placement)
    told = ["--devices", "4x1", "--source-rate", "1e4", "--model", "path-average"]
    other = scored(capsys, "simulate", job.graph, job.placement, *told)
    assert own["relative_throughput"] == 1.0
    assert other["relative_throughput"] < 1.0
    assert other["model"] == "path-average"
    assert len(other["devices"]) == 4


def test_of_two_files_that_do_not_belong_together_both_are_named(
    job: Job, tmp_path: Path, capsys: Capture
) -> None:
    other = tmp_path / "other.json"
    other.write_text(Path(job.graph).read_text().replace('"instructions": ', '"instructions": 1'))
    said = refused(capsys, "simulate", other, job.placement)
    assert "is a placement of another graph" in said
    assert str(job.placement) in said
    assert str(other) in said


def test_headroom_stays_with_the_placement(job: Job, tmp_path: Path, capsys: Capture) -> None:
    """Three operators of 6 MIPS together; `simulate` may be told another share, or all."""
    placement = tmp_path / "placement.json"
    command = ["place", job.graph, "--devices", "2x4", "-o", placement]
    assert scored(capsys, *command)["relative_throughput"] == 1.0
    assert "target_utilisation" not in placement.read_text()
    placed = scored(capsys, *command, "--target-utilisation", "0.6")
    assert placed["relative_throughput"] == pytest.approx(2.4 / 3)
    assert placed["bottleneck"]["utilisation"] == pytest.approx(0.75)
    assert json.loads(placement.read_text())["problem"]["target_utilisation"] == 0.6
    again = ["simulate", job.graph, placement]
    assert scored(capsys, *again) == {key: placed[key] for key in scored(capsys, *again)}
    assert "80.0% of 1,000 (bottleneck, at most 0.6 of any" in succeeds(capsys, *again)
    assert scored(capsys, *again, "--target-utilisation", "1")["relative_throughput"] == 1.0
    engine = scored(capsys, *again, "--model", "engine")
    assert engine["relative_throughput"] == pytest.approx(0.8, rel=1e-3)
    assert engine["bottleneck"]["utilisation"] == pytest.approx(0.6)
    assert json.loads(succeeds(capsys, "info", placement, "--json"))["target_utilisation"] == 0.6
    compare = ["compare", job.graph, "--devices", "2x4", "--placers", "single", "--jobs", "1"]
    assert scored(capsys, *compare)["rows"][0]["mean"] == pytest.approx(2 / 3)
    half = scored(capsys, *compare, "--target-utilisation", "0.5")
    assert half["rows"][0]["mean"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("model", ["bottleneck", "path-average", "engine"])
def test_several_source_rates_stay_too(
    model: str, job: Job, tmp_path: Path, capsys: Capture
) -> None:
    """The score is that at the worst of them, here the highest; one alone may be asked for."""
    placement = tmp_path / "placement.json"
    told = ["--devices", "2x2", "--model", model, "--source-rate", "500,2e3,1e3"]
    placed = scored(capsys, "place", job.graph, *told, "-o", placement)
    assert placed["relative_throughput"] == pytest.approx(1 / 3, rel=1e-3)
    assert placed["throughput"] == pytest.approx(2000 / 3, rel=1e-3)
    problem = json.loads(placement.read_text())["problem"]
    assert (problem["source_rate"], problem["source_rates"]) == (2000.0, [2000.0, 1000.0, 500.0])
    again = ["simulate", job.graph, placement]
    assert scored(capsys, *again) == {key: placed[key] for key in scored(capsys, *again)}
    assert "of 2,000, the worst of 3 rates" in succeeds(capsys, *again)
    slower = scored(capsys, *again, "--source-rate", "600")
    assert slower["throughput"] == pytest.approx(600.0)
    two = scored(capsys, *again, "--source-rate", "600,1500")
    assert two["throughput"] == pytest.approx(2000 / 3, rel=1e-3)


def test_a_trace_is_of_the_worst_rate(job: Job, tmp_path: Path, capsys: Capture) -> None:
    trace = tmp_path / "trace.json"
    rates = ["--source-rate", "100,1e4", "--devices", "5x1", "--model", "engine"]
    command = ["simulate", job.graph, job.placement, *rates, "--trace", trace]
    assert scored(capsys, *command)["relative_throughput"] == pytest.approx(1 / 30, rel=1e-3)
    assert json.loads(trace.read_text())["sources"][0]["offered_rate"][0] == pytest.approx(1e4)


def test_a_smaller_cluster_lacks_a_device(job: Job, capsys: Capture) -> None:
    line = refused(capsys, "simulate", job.graph, job.placement, "--devices", "2x2500")
    assert "placement.json: assignment['c']: the cluster has no device 'd2'" in line


def test_both_files_are_named_that_do_not_fit(job: Job, tmp_path: Path, capsys: Capture) -> None:
    """Either may be the wrong one."""
    cluster, cepsim = tmp_path / "small.json", tmp_path / "cepsim.json"
    cluster.write_text(json.dumps(cluster_to(Cluster.equal(1))))
    succeeds(capsys, "export", job.placement, "--to", "cepsim", "-o", cepsim)
    for placement in (job.placement, cepsim):
        line = refused(capsys, "simulate", job.graph, placement, "--cluster", cluster)
        assert placement.name in line
        assert "the cluster has no device" in line
        assert f"(the cluster is {cluster})" in line


def test_the_file_says_how_good_it_is(job: Job) -> None:
    value = json.loads(job.placement.read_text())
    form = PlacementForm.model_validate(value)
    assert form.placer == "round-robin"
    assert form.bound == 1000.0
    assert form.gap == 0.0
    assert value["score"]["throughput"] == 1000.0
    assert form.problem.graph_sha256 == read_graph(job.graph).sha256


def test_export_csv(job: Job, tmp_path: Path, capsys: Capture) -> None:
    text = succeeds(capsys, "export", job.placement, "--to", "csv")
    assert text == "operator,device\na,d0\nb,d1\nc,d2\n"
    succeeds(capsys, "export", job.placement, "--to", "csv", "-o", tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == text


def test_export_csv_quotes_what_needs_it(tmp_path: Path, capsys: Capture) -> None:
    names = ["a,b", 'say "x"', "two\nlines", "größe"]
    graph = tmp_path / "graph.json"
    operators = [{"name": name, "instructions": 1.0} for name in names]
    graph.write_text(json.dumps({"source_rate": 1.0, "operators": operators}))
    placement, table = tmp_path / "placement.json", tmp_path / "x.csv"
    succeeds(capsys, "place", graph, "--placer", "single", "-o", placement)
    succeeds(capsys, "export", placement, "--to", "csv", "-o", table)
    with table.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["operator", "device"], *([name, "d0"] for name in names)]


def test_export_cepsim_and_back(job: Job, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "cepsim.json"
    succeeds(capsys, "export", job.placement, "--to", "cepsim", "-o", file)
    assert json.loads(file.read_text()) == {
        "placements": [{"idx": d, "ops": [d]} for d in range(3)]
    }
    ours, theirs = (scored(capsys, "simulate", job.graph, p) for p in (job.placement, file))
    assert ours == theirs


def test_export_json_is_a_placement_again(job: Job, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "again.json"
    succeeds(capsys, "export", job.placement, "--to", "json", "-o", file)
    assert scored(capsys, "diff", job.placement, file)["moves"] == []
    assert scored(capsys, "simulate", job.graph, file)["throughput"] == 1000.0


def test_export_json_keeps_the_score(job: Job, capsys: Capture) -> None:
    """Nothing that the file knew is lost on the way."""
    exported = json.loads(succeeds(capsys, "export", job.placement, "--to", "json"))
    assert exported == json.loads(job.placement.read_text())


def test_export_of_a_cepsim_placement_needs_a_graph(job: Job, capsys: Capture) -> None:
    assert "cepsim.json" in refused(capsys, "export", job.cepsim, "--to", "csv")


def test_diff_of_different_jobs_names_a_file(job: Job, tmp_path: Path, capsys: Capture) -> None:
    other = tmp_path / "other.json"
    succeeds(capsys, "place", "dataset:real/riotbench-etl.json", "--placer", "single", "-o", other)
    assert "other.json" in refused(capsys, "diff", job.placement, other)


def test_compare_saves_its_tables(job: Job, tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "new" / "folder"
    command = ["compare", job.graph, "--placers", "single,metis", "--jobs", "1", "-o", folder]
    found = scored(capsys, *command)
    assert json.loads((folder / "compare.json").read_text()) == found
    with (folder / "table.csv").open(newline="") as file:
        assert [row["placer"] for row in csv.DictReader(file)] == ["single", "metis"]
    with (folder / "graphs.csv").open(newline="") as file:
        assert [row["graph"] for row in csv.DictReader(file)] == ["line", "line"]
    tables = {"compare.json", "table.csv", "graphs.csv", "by_rate.csv", "by_rate.md", "by_rate.tex"}
    pictures = {"throughput.png", "devices.png"}
    assert {path.name for path in folder.iterdir()} == tables | pictures


@pytest.mark.parametrize("fault", ["constraints", "source_rate", "load"])
def test_compare_names_the_graph_that_is_at_fault(
    fault: str, tmp_path: Path, capsys: Capture
) -> None:
    """In a dataset of thousands, 'the graph has none' is of no help."""
    good = {"source_rate": 1.0, "operators": [{"name": "a", "instructions": 1.0}]}
    bad: dict[str, Any] = {
        "constraints": {**good, "constraints": {"pins": {"a": "d9"}}},
        "source_rate": {"operators": good["operators"]},
        "load": {**good, "operators": [{"name": "a", "instructions": 1e308}], "source_rate": 1e9},
    }[fault]
    file = tmp_path / "x.jsonl"
    lines = [{**good, "name": "fine"}, {**bad, "name": "the-bad-one"}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    line = refused(capsys, "compare", file, "--placers", "single", "--jobs", "1")
    assert "the-bad-one" in line
