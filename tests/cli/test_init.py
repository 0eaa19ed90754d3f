"""The command `init`: starter files, which a second run does not overwrite."""

import json
from pathlib import Path
from typing import get_args

from streamplace.cli.init import STARTERS
from streamplace.files import read_cluster, read_graph
from streamplace.problem.cluster import NetworkKind
from tests.support.cli import Capture, json_of, refused, succeeds


def test_the_starter_graph_can_be_placed(tmp_path: Path, capsys: Capture) -> None:
    succeeds(capsys, "init", tmp_path / "new" / "folder")
    graph, cluster = (tmp_path / "new" / "folder" / name for name in STARTERS)
    found = json_of(capsys, "place", graph, "--cluster", cluster)
    assert found["assignment"]["clicks"] == found["assignment"]["parse"]
    assert found["relative_throughput"] == 1
    assert found["assignment"]["fraud-model"] == "gpu1"  # a label at work


def test_the_starter_graph_on_devices_without_its_label(tmp_path: Path, capsys: Capture) -> None:
    succeeds(capsys, "init", tmp_path)
    error = refused(capsys, "place", tmp_path / "graph.json")
    assert "operator 'fraud-model': it requires 'gpu' (on no device)" in error
    assert "set --cluster FILE" in error


def test_the_starters_have_comments(tmp_path: Path, capsys: Capture) -> None:
    """Without their comments, the files have the same content."""
    succeeds(capsys, "init", tmp_path)
    graph, cluster = read_graph(tmp_path / "graph.json"), read_cluster(tmp_path / "cluster.json")
    for name in STARTERS:
        text = (tmp_path / name).read_text()
        assert text.count('"comment"') >= 3
        (tmp_path / name).write_text(json.dumps(without_comments(json.loads(text))))
    assert read_graph(tmp_path / "graph.json") == graph
    assert read_cluster(tmp_path / "cluster.json") == cluster


def test_the_comments_list_kinds_of_networks_and_fields_for_makespans(
    tmp_path: Path, capsys: Capture
) -> None:
    succeeds(capsys, "init", tmp_path)
    graph, cluster = (json.loads((tmp_path / name).read_text()) for name in STARTERS)
    kinds = cluster["network"]["comment"]
    assert all(f"{kind} (" in kinds for kind in get_args(NetworkKind))
    assert "firing: " in graph["comment"]
    assert any("seconds_on: " in each.get("comment", "") for each in graph["operators"])
    assert any("kind: " in each.get("comment", "") for each in cluster["devices"])


def without_comments(value: object) -> object:
    """Return a JSON value without its comments."""
    if isinstance(value, dict):
        return {k: without_comments(v) for k, v in value.items() if k != "comment"}
    return [without_comments(v) for v in value] if isinstance(value, list) else value


def test_a_second_run_refuses_and_changes_nothing(tmp_path: Path, capsys: Capture) -> None:
    succeeds(capsys, "init", tmp_path)
    (tmp_path / "graph.json").write_text("mine")
    before = (tmp_path / "cluster.json").read_bytes()
    assert "graph.json" in refused(capsys, "init", tmp_path)
    assert (tmp_path / "graph.json").read_text() == "mine"
    assert (tmp_path / "cluster.json").read_bytes() == before


def test_nothing_is_written_if_one_file_exists(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "cluster.json").write_text("mine")
    assert "cluster.json" in refused(capsys, "init", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["cluster.json"]
