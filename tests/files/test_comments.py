"""Comments, which every object in a file may have."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from benchmarks.hardening.corpus.documents import CLUSTER, GRAPH
from streamplace.files.clusters import cluster_from
from streamplace.files.graphs import graph_from
from streamplace.files.placements import placement_to
from streamplace.files.reading import check
from streamplace.files.schema import ConstraintsForm, GraphForm, PlacementForm
from streamplace.problem.cluster import Cluster
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem

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
    assert form.problem.graph.operators[0].comment == "für Menschen"
    assert len(list(objects(PLACEMENT))) == 14


def test_a_comment_may_be_null() -> None:
    assert GraphForm.model_validate({**GRAPH, "comment": None}).comment is None


def test_an_operator_may_be_called_comment() -> None:
    """In maps keyed by names, "comment" is a name like any other."""
    operators = [{"name": "comment", "instructions": 1.0}]
    pinned = {"operators": operators, "constraints": {"pins": {"comment": "d0"}}}
    assert graph_from(pinned, "x").constraints.pins == {"comment": "d0"}
