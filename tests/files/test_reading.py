"""Reading JSON: messages about text that is none, comments, and garbage collection."""

import copy
import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from streamplace.errors import FormatError
from streamplace.files import read_graph
from streamplace.files.clusters import cluster_from
from streamplace.files.graphs import graph_from
from streamplace.files.placements import placement_to
from streamplace.files.reading import check, parse
from streamplace.files.schema import ConstraintsForm, GraphForm, PlacementForm
from streamplace.problem.cluster import Cluster
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from tests.corpus.documents import CLUSTER, GRAPH
from tests.support.errors import fault_of


@pytest.mark.parametrize("enabled", [True, False])
def test_collections_are_as_before(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    try:
        assert parse("[[], {}]", "text") == [[], {}]
        assert gc.isenabled() is enabled
        with pytest.raises(FormatError):
            parse("[[], {]", "text")
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


def test_a_text_of_many_lists_causes_no_collection() -> None:
    before = [generation["collections"] for generation in gc.get_stats()]
    value = parse(f"[{','.join(['[]'] * 50_000)}]", "text")
    after = [generation["collections"] for generation in gc.get_stats()]
    assert len(value) == 50_000
    assert sum(after) - sum(before) <= 1


NO_COMMENTS = 'not JSON: JSON has no comments; use a "comment" field instead'
NO_YAML = "not JSON; YAML is not supported: convert it to JSON"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\noperators:\n  - name: a\n", f"line 1: {NO_YAML}"),
        ("# a graph\n\n---\nname: x\n", f"line 3: {NO_YAML}"),
        ("- a\n- b\n", f"line 1: {NO_YAML}"),
        ("\n<!DOCTYPE html>\n<html></html>", "is an HTML page; expected JSON"),
        ("// a graph\n{}", f"line 1 column 1: {NO_COMMENTS}"),
        ("# a graph\n{}", f"line 1 column 1: {NO_COMMENTS}"),
        ('{\n  // a graph\n  "name": "x"}', f"line 2 column 3: {NO_COMMENTS}"),
        ('{"name": /* a graph */ "x"}', f"line 1 column 10: {NO_COMMENTS}"),
        ('{"name": "x" // a graph\n}', f"line 1 column 14: {NO_COMMENTS}"),
        ('{"name": "x", // a graph\n}', f"line 1 column 15: {NO_COMMENTS}"),
        ("{}\n// a graph", f"line 2 column 1: {NO_COMMENTS}"),
        ('{"a": 1,\n "b', "line 2 column 2: not JSON: unterminated string"),
        ('{"a"\n: "b\n//"}', "line 2 column 5: not JSON: control character in a string"),
        ('{"a" 1}', "line 1 column 6: not JSON: expected ':'"),
        ('{"a": 1 "b": 2}', "line 1 column 9: not JSON: expected ','"),
        ('{"a": }', "line 1 column 7: not JSON: expected a value"),
        ("{a: 1}", "line 1 column 2: not JSON: expected a name in double quotes"),
        ("{} {}", "line 1 column 4: not JSON: unexpected text after the end"),
        (r'{"a": "\x"}', r"line 1 column 8: not JSON: invalid \escape"),
    ],
)
def test_the_place_comes_before_the_reason(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse(text, "x.json")
    assert fault_of(caught.value, "x.json") == message


def test_a_line_of_a_file_is_named_once(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    for text, message in {"\nname: x\n": f"line 2: {NO_YAML}", "{]": "line 1: column 2: "}.items():
        file.write_text(text)
        with pytest.raises(FormatError) as caught:
            read_graph(file)
        assert fault_of(caught.value, file).startswith(message)


def test_many_lines_of_comments_are_scanned() -> None:
    with pytest.raises(
        FormatError, match=r"^x.json: line 3 column 1: not JSON: JSON has no comments"
    ):
        parse("\n \r\n# a comment\n" * 100_000 + "?", "x.json")


PLACED = Placement(
    Problem(graph_from(GRAPH, "x"), Cluster(cluster_from(CLUSTER, "x").devices)), [0, 0, 1]
)
PLACEMENT = placement_to(PLACED, placer="x", score={}, bound=1.0, gap=0.0)
# objects whose keys are names
MAPS = ("pins", "allowed", "source_shares", "uplinks", "resources", "assignment", "score")


def objects(value: Any, key: str = "") -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON value whose keys are fields."""
    if isinstance(value, dict):
        if key not in MAPS:
            yield value
        for name, inner in value.items():
            yield from objects(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from objects(inner)


def commented(value: Any) -> Any:
    """Return the value with a comment in every object."""
    result = copy.deepcopy(value)
    for found in objects(result):
        found["comment"] = "für Menschen"
    return result


# per kind of file: a value, a function that reads it, and the number of objects in it
READ: dict[str, tuple[Any, Callable[[Any], Any], int]] = {
    "graph": (GRAPH, lambda value: graph_from(value, "x"), 7),
    "cluster": (CLUSTER, lambda value: cluster_from(value, "x"), 6),
    "constraints": (
        GRAPH["constraints"],
        lambda value: check(ConstraintsForm, value, "x").model_dump(exclude={"comment"}),
        1,
    ),
}


@pytest.mark.parametrize("kind", READ)
def test_a_comment_everywhere_changes_nothing(kind: str) -> None:
    value, read, count = READ[kind]
    assert len(list(objects(value))) == count
    assert read(commented(value)) == read(value)


def test_a_comment_everywhere_in_a_placement() -> None:
    form = check(PlacementForm, commented(PLACEMENT), "x")
    assert isinstance(form.problem.graph, GraphForm)
    assert {*form.problem.graph.operators.all_of("comment")} == {"für Menschen"}
    assert len(list(objects(PLACEMENT))) == 14


def test_a_comment_may_be_null() -> None:
    assert GraphForm.model_validate({**GRAPH, "comment": None}).comment is None


def test_an_operator_may_be_called_comment() -> None:
    """In maps keyed by names, "comment" is a name like any other."""
    operators = [{"name": "comment", "instructions": 1.0}]
    pinned = {"operators": operators, "constraints": {"pins": {"comment": "d0"}}}
    assert graph_from(pinned, "x").constraints.pins == {"comment": "d0"}
