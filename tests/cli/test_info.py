"""The command `info`: its text output, and files that it does not summarise."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from streamplace.cli.info import print_facts
from tests.support.cli import Capture, json_of, refused, succeeds
from tests.support.input_files import CLUSTER, GRAPH, InputFiles

READABLE = "info reads graphs, datasets, clusters, placements, checkpoints and policy weights"
OTHER_KINDS: list[tuple[Any, str]] = [
    (
        {"format": "streamplace-scene", "version": 1},
        f"is a scene, which simulate --scene reads; {READABLE}",
    ),
    (
        {"format": "streamplace-trace", "version": 1, "devices": [], "operators": []},
        f"is a trace, which simulate --trace writes; {READABLE}",
    ),
    (
        {"policy": {}, "problems": [], "stage": []},
        f"is a training configuration, which train --config reads; {READABLE}",
    ),
    (
        {"policy": {}, "sampling": {}},
        f"is a training configuration, which train --config reads; {READABLE}",
    ),
    ({"dataset": "d", "graphs": 1, "rows": []}, f"is the result of compare; {READABLE}"),
    ({"type": "object", "properties": {}}, f"is a JSON Schema; {READABLE}"),
    ({"a": 1}, f"is not a file that info reads; {READABLE}"),
]


@pytest.mark.parametrize(("value", "expected"), OTHER_KINDS)
def test_files_that_info_does_not_summarise(
    value: Any, expected: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps(value))
    assert refused(capsys, "info", file) == f"streamplace: {file}: {expected}"


def test_slots_and_prices_of_devices(tmp_path: Path, capsys: Capture) -> None:
    devices = [{"name": "a", "mips": 1, "slots": 8, "price": 2}, {"name": "b", "mips": 1}]
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"format": "streamplace-cluster", "devices": devices}))
    assert "slots:\n  a: 8\nprices:\n  a: 2\n" in succeeds(capsys, "info", file)


def test_a_training_log(tmp_path: Path, capsys: Capture) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("".join(f'{{"step": {i}, "epoch": 0, "loss": 1.0}}\n' for i in range(2)))
    message = refused(capsys, "info", log)
    kind = "is the log of a training run, whose folder curves reads"
    assert message == f"streamplace: {log}: {kind}; {READABLE}"


def test_a_run_folder(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    shutil.copy(inputs.graph, tmp_path / "config.json")
    (tmp_path / "policy.safetensors").touch()
    message = refused(capsys, "info", tmp_path)
    weights = tmp_path / "policy.safetensors"
    assert message == f"streamplace: {tmp_path}: is a run folder; read {weights} instead"


def test_a_results_folder_of_compare(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "compare.json").write_text("{}")
    message = refused(capsys, "info", tmp_path)
    assert message == f"streamplace: {tmp_path}: is a folder of results of compare; {READABLE}"


def test_a_graph_with_a_misspelt_field_is_recognised(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "x.json"
    file.write_text('{"opertors": []}')
    message = refused(capsys, "info", file)
    assert "did you mean 'operators'?" in message
    assert "info reads" not in message


def test_facts_of_a_placement(tmp_path: Path, capsys: Capture) -> None:
    """Names of devices keep their underscores; keys of the JSON output get readable labels."""
    cluster, graph, placement = (tmp_path / f"{name}.json" for name in "cgp")
    cluster.write_text(json.dumps({**CLUSTER, "devices": [{"name": "my_dev", "mips": 2500}]}))
    graph.write_text(json.dumps(GRAPH))
    succeeds(capsys, "place", graph, "--cluster", cluster, "-o", placement)
    lines = succeeds(capsys, "info", placement).splitlines()
    assert "source rate, tuples/s: 1000" in lines
    assert "target utilisation: 1" in lines
    assert "  my_dev: a, b, c" in lines
    assert "  constraints: no" in lines
    assert "  unknown quantities: none" in lines


def test_a_list_of_tables_is_printed_as_blocks(capsys: Capture) -> None:
    stages = [{"algorithm": "imitation", "sizes": [1, 2]}, {"only_better": True, "limit": None}]
    print_facts({"stage": stages, "orders": [0, 1], "pairs": [[1, 2], [3, 4]], "rate": 1e-3})
    assert capsys.readouterr().out.splitlines() == [
        "stage[0]:",
        "  algorithm: imitation",
        "  sizes: 1, 2",
        "stage[1]:",
        "  only_better: yes",
        "  limit: none",
        "orders: 0, 1",
        "pairs: 1, 2, 3, 4",
        "rate: 0.001",
    ]


def test_resources_are_added_up(tmp_path: Path, capsys: Capture) -> None:
    operators = [
        {**row, "resources": {"gpu": 0.1, "licence": 1}} if i else row
        for i, row in enumerate(GRAPH["operators"])
    ]
    amounts = {"gpu": 2, "hugepages-2Mi": 2**26}
    devices = [{**row, "resources": amounts} for row in CLUSTER["devices"]]
    graph, cluster = tmp_path / "graph.json", tmp_path / "cluster.json"
    graph.write_text(json.dumps({**GRAPH, "operators": operators}))
    cluster.write_text(json.dumps({**CLUSTER, "devices": devices}))
    count = len(operators) - 1
    found = json.loads(succeeds(capsys, "info", graph, "--json"))
    assert found["resources"] == {"gpu": pytest.approx(0.1 * count), "licence": count}
    assert json.loads(succeeds(capsys, "info", cluster, "--json"))["resources"] == {
        "gpu": 2 * len(devices),
        "hugepages-2Mi": 2**26 * len(devices),
    }
    shown = f"resources:\n  gpu: {2 * len(devices)}\n  hugepages-2Mi: "
    assert shown in (text := succeeds(capsys, "info", cluster))
    assert text.endswith(" MB\n")
    placement = str(tmp_path / "placement.json")
    graph.write_text(json.dumps(GRAPH))
    succeeds(capsys, "place", graph, "--cluster", cluster, "-o", placement)
    assert "resources" not in succeeds(capsys, "info", placement), "no operator needs any"


def test_a_placement_for_a_makespan_has_no_source_rate(tmp_path: Path, capsys: Capture) -> None:
    cluster, graph, placement = (tmp_path / f"{name}.json" for name in "cgp")
    cluster.write_text(json.dumps(CLUSTER))
    graph.write_text(json.dumps(GRAPH))
    aim = ("--objective", "makespan", "--batch", 4, "--placer", "single")
    succeeds(capsys, "place", graph, "--cluster", cluster, *aim, "-o", placement)
    found = json.loads(succeeds(capsys, "info", placement, "--json"))
    assert found["objective"] == "makespan:batch=4"
    assert not {"source_rates", "model", "target_utilisation"} & found.keys()
    assert "objective: makespan:batch=4" in succeeds(capsys, "info", placement).splitlines()


def test_a_list_of_clusters(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "clusters.jsonl"
    more = {**CLUSTER, "devices": [{"name": f"d{i}", "mips": 1, "kind": "gpu"} for i in range(9)]}
    file.write_text("".join(json.dumps(value) + "\n" for value in (CLUSTER, more)))
    found = json.loads(succeeds(capsys, "info", file, "--json"))
    count = len(CLUSTER["devices"])
    assert (found["kind"], found["clusters"]) == ("clusters", 2)
    assert found["devices"] == {"min": count, "median": (count + 9) / 2, "max": 9}
    assert found["kinds"] == {"gpu": 9}
    assert "clusters: 2" in succeeds(capsys, "info", file).splitlines()
    file.write_text(file.read_text() + '{"devices": 3}\n')
    assert "clusters.jsonl: line 3" in refused(capsys, "info", file)


def test_the_shape_of_a_graph(tmp_path: Path, capsys: Capture) -> None:
    graph = tmp_path / "graph.json"
    names = [{"name": name, "instructions": 1} for name in "abcd"]
    ends = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("a", "c")]
    streams = [{"source": source, "target": target} for source, target in ends]
    graph.write_text(json.dumps({"operators": names, "streams": streams}))
    found = json.loads(succeeds(capsys, "info", graph, "--json"))
    keys = ("longest_path", "longest_shortest_path", "streams_per_operator", "width")
    assert [found[key] for key in keys] == [4, 3, 1.25, 1]
    lines = succeeds(capsys, "info", graph).splitlines()
    assert "longest path, operators: 4" in lines
    assert "longest shortest path, operators: 3" in lines
    assert "streams per operator: 1.25" in lines
    assert "width, operators of the largest level: 1" in lines


def test_the_longest_shortest_path_of_a_large_graph_is_left_out(
    tmp_path: Path, capsys: Capture
) -> None:
    graph = tmp_path / "graph.npz"
    succeeds(capsys, "generate", "layered", "--operators", 1001, "-o", graph)
    found = json.loads(succeeds(capsys, "info", graph, "--json"))
    assert "longest_shortest_path" not in found
    assert found["longest_path"] > 1
    assert "longest shortest path" not in succeeds(capsys, "info", graph)


def test_numbers_of_instances(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # so that nothing is cut off
    read = {"name": "read", "instructions": 1, "payload_bytes": 1, "partitions": 16}
    limits = {"parallelism": "free", "min_parallelism": 2, "max_parallelism": 6}
    count = {"name": "count", "instructions": 1, "partitions": 128, "scaling": {"sigma": 0.02}}
    ends = {"source": "read", "target": "count"}
    streams = [{**ends, "partitioning": "hash", "key_shares": {"x": 0.2}}]
    file = tmp_path / "graph.json"
    graph = {"operators": [read, count | limits, {"name": "out", "instructions": 1}]}
    file.write_text(json.dumps(graph | {"streams": streams}))
    found = json_of(capsys, "info", file)
    assert found["counts"] == {
        "read": {"partitions": 16},
        "count": {**limits, "partitions": 128, "scaling": {"sigma": 0.02}},
    }
    assert found["partitioning"] == {"read->count": "hash"}
    assert found["key_shares"] == {"read->count": {"x": 0.2}}
    text = succeeds(capsys, "info", file)
    bounds = "parallelism free, at least 2, at most 6, partitions 128, scaling (sigma 0.02)"
    assert f"numbers of instances:\n  read: partitions 16\n  count: {bounds}\n" in text
    assert "partitioning of streams:\n  read->count: hash\n" in text
    assert "shares of keys:\n  read->count: x 0.2\n" in text


def test_streams_between_the_same_operators_and_instances(tmp_path: Path, capsys: Capture) -> None:
    ends = {"source": "a[0]", "target": "b"}
    streams = [{**ends, "partitioning": "hash"}, {**ends, "partitioning": "forward"}]
    operators = [{"name": "a[0]", "instructions": 1, "payload_bytes": 1, "instance_of": "a"}]
    file = tmp_path / "graph.json"
    graph = {"operators": [*operators, {"name": "b", "instructions": 1}], "streams": streams}
    file.write_text(json.dumps(graph))
    found = json_of(capsys, "info", file)
    assert found["counts"] == {"a": {"instances": 1}}
    assert found["partitioning"] == {"a[0]->b": ["forward", "hash"]}


def test_a_plot_shows_two_datasets(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    picture = tmp_path / "distributions.png"
    succeeds(capsys, "info", inputs.graph, "--beside", inputs.graph, "--plot", picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_dataset_beside_needs_a_plot(inputs: InputFiles, capsys: Capture) -> None:
    assert "requires --plot" in refused(capsys, "info", inputs.graph, "--beside", inputs.graph)
