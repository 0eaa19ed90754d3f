"""Checks of public arguments, names that are suggested, and effects of options."""

from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from pickle import dumps, loads
from typing import Any

import networkx
import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import StreamplaceError
from streamplace.scoring.score import Score
from streamplace.util.suggest import (
    MAX_LENGTH,
    MAX_NAMES,
    candidates,
    closest_match,
    did_you_mean,
    valid_choices,
)
from streamplace.workflows.result import Result

GRAPH = sp.StreamGraph([("a", 1e4, 100), ("b", 2e4, 0)], [("a", "b")])


def place(graph: Any = GRAPH, cluster: Any = "3x2500", **options: Any) -> Result:
    options = {"source_rate": 1000, "placer": "greedy", **options}
    placed: Result = sp.place(graph, cluster, **options)
    return placed


def simulate(assignment: Any) -> Score:
    return sp.simulate(GRAPH, assignment, "3x2500", source_rate=1000)


def graph_of(operator: Any, **options: Any) -> sp.StreamGraph:
    return sp.StreamGraph([operator], **options)


# typed as Any, so that the type checker accepts the wrong arguments below
untyped_cluster: Any = sp.Cluster
untyped_device: Any = sp.Device
untyped_constraints: Any = sp.Constraints
untyped_sp: Any = sp
# name -> a call, and a pattern of its message, in which "." often stands for a bracket or a quote
MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "file as graph": (
        lambda: place("graph.json"),
        "graph: must be StreamGraph, not str; use sp.read_graph for files",
    ),
    "networkx": (lambda: place(networkx.DiGraph([(1, 2)])), "not DiGraph; .*sp.from_networkx"),
    "rows as graph": (lambda: place(([("a", 1, 1)], [])), "graph: must be StreamGraph, not tuple"),
    "plan a file": (lambda: untyped_sp.plan("g.json", source_rate=1), "graph: must be StreamGraph"),
    "size a file": (lambda: untyped_sp.size("g.json", source_rate=1), "graph: must be StreamGraph"),
    "rate as text": (lambda: place(source_rate="1000"), "source_rate: must be a number .*'1000'"),
    "rate true": (lambda: place(source_rate=True), "source_rate: must be a number .got True"),
    "rates of text": (lambda: place(source_rate=[1, "2"]), "source_rate: must be a number"),
    "devices as cluster": (
        lambda: place(cluster=[sp.Device("x", 9)]),
        "not list; for example sp.Cluster",
    ),
    "count as cluster": (lambda: place(cluster=3), "cluster: must be Cluster, not int"),
    "constraints": (
        lambda: place(constraints={"pins": {"a": "d0"}}),
        "constraints: must be Constraints, not dict; for example sp.Constraints",
    ),
    "constraints of a graph": (lambda: graph_of(("a", 1, 1), constraints={"pins": {}}), "not dict"),
    "pins": (lambda: untyped_constraints(pins=[("a", "d0")]), "constraints.pins must be Mapping"),
    "utilisation": (lambda: place(target_utilisation="0.5"), "target_utilisation: must be a num"),
    "seed as text": (lambda: place(seed="x"), "seed must be a whole number .got 'x'"),
    "seed with a point": (lambda: place(seed=1.5), "seed must be a whole number .got 1.5"),
    "seed of compare": (
        lambda: untyped_sp.compare([GRAPH], "greedy", 1e3, seed="x"),
        "seed: must be",
    ),
    "simulate a file": (lambda: untyped_sp.simulate("p.json"), "not str; .*sp.read_placement"),
    "devices in order": (lambda: simulate(["d0", "d1"]), "assignment: must be Mapping, not list"),
    "device by number": (
        lambda: simulate({"a": 0, "b": 1}),
        r"assignment\['a'\]: must be a string",
    ),
    "operator by number": (lambda: simulate({0: "d0"}), "the graph has no operator 0"),
    "cluster of text": (lambda: untyped_cluster("3x2500"), "not text; sp.Cluster.parse reads text"),
    "cluster of tuples": (
        lambda: untyped_cluster([("a", 100)]),
        r"devices\[0\]: must be Device, not",
    ),
    "cluster of one": (lambda: untyped_cluster(sp.Device("a", 9)), "devices: must be Iterable"),
    "network": (
        lambda: untyped_cluster.equal(3, network="nic"),
        "network: must be Network, not str",
    ),
    "mips": (lambda: untyped_device("a", "x"), "device 'a': mips must be a number .got 'x'"),
    "memory": (lambda: untyped_device("a", 9, memory_bytes="8GB"), "memory_bytes must be a number"),
    "device's name": (lambda: untyped_device(3, 9), "device: name must be a string .got 3"),
    "write a result": (lambda: untyped_sp.write_placement("x.json", place()), "not Result; .*save"),
    "write, swapped": (lambda: untyped_sp.write_placement(place().placement, "x"), "not str"),
    "misspelt set": (lambda: sp.read_graph("dataset:rael"), "did you mean 'dataset:real'"),
    "no operators": (lambda: untyped_sp.StreamGraph(None), "operators: must be Iterable, not None"),
    "operator's name": (
        lambda: graph_of(untyped_sp.Operator(3, 5, 2)),
        r"operators\[0\].name: must",
    ),
    "labels of a number": (
        lambda: graph_of(untyped_sp.Operator("a", 1, 1, requires=5)),
        r"operators\[0\].requires: must be a list of labels .got 5",
    ),
    "no memory": (
        lambda: graph_of(untyped_sp.Operator("a", 1, 1, memory_bytes=None)),
        r"operators\[0\].memory_bytes: must be a number .got None",
    ),
    "text as instructions": (
        lambda: graph_of(untyped_sp.Operator("a", "x", 1)),
        r"operators\[0\].instructions: must be a number .got 'x'",
    ),
    "text as selectivity": (
        lambda: untyped_sp.StreamGraph(
            [("a", 1, 1), ("b", 1, 1)], [untyped_sp.Stream("a", "b", "10%")]
        ),
        r"streams\[0\].selectivity: must be a number .got '10%'",
    ),
    "rates of sources": (
        lambda: place(source_rate={"a": 1000}),
        "source_rate: must be a number or several, not a mapping; .*source_rates",
    ),
    "slow as text": (
        lambda: untyped_sp.migrate(GRAPH, place(), inherit=True, slow="d0=0.5"),
        "slow must be a mapping, such as",
    ),
    "write clusters as graphs": (
        lambda: untyped_sp.write_dataset("x.jsonl", [sp.Cluster.equal(2)]),
        "graphs: must be StreamGraph, not Cluster",
    ),
    "write a cluster as a graph": (
        lambda: untyped_sp.write_dataset("x.json", [sp.Cluster.equal(2)]),
        "graphs: must be StreamGraph, not Cluster",
    ),
    "write graphs as clusters": (
        lambda: untyped_sp.write_clusters("x.jsonl", [GRAPH]),
        "clusters: must be Cluster, not StreamGraph",
    ),
    "mapping as networkx": (
        lambda: untyped_sp.from_networkx({"a": ["b"]}),
        "must be a networkx.DiGraph, not dict",
    ),
    "graphs as jobs": (lambda: untyped_sp.place_jobs([GRAPH]), "jobs must be Jobs, not list"),
    "size graphs as jobs": (lambda: untyped_sp.size_jobs([GRAPH]), "jobs must be Jobs, not list"),
    "number of a graph": (
        lambda: untyped_sp.Recipe("layered", 3).graph("0"),
        "graph number must be a whole number .got '0'",
    ),
    "too many instructions": (
        lambda: graph_of(("a", 10**400, 1)),
        r"operators\[0\].instructions: is too large for a float",
    ),
    "text as payload": (
        lambda: untyped_sp.StreamGraph(
            [("a", 1, 1), ("b", 1, 1)], [untyped_sp.Stream("a", "b", 1, "x")]
        ),
        r"streams\[0\].payload_bytes: must be a number .got 'x'",
    ),
    "rate too large": (lambda: place(source_rate=10**400), "source_rate: is too large for a float"),
    "rates too large": (
        lambda: place(source_rate=[1, 10**400]),
        "source_rate: is too large for a float",
    ),
    "graph's rate too large": (
        lambda: graph_of(("a", 1, 1), source_rate=10**400),
        "source_rate: is too large for a float",
    ),
    "share too large": (
        lambda: graph_of(("a", 1, 1), source_shares={"a": 10**400}),
        "source_shares.*is too large for a float",
    ),
    "mips too large": (lambda: untyped_device("a", 10**400), "mips is too large for a float"),
    "graph's rate": (lambda: graph_of(("a", 1, 1), source_rate="x"), "source_rate: must be a num"),
    "shares": (lambda: graph_of(("a", 1, 1), source_shares={"a": "x"}), "must be a number"),
}


@pytest.mark.parametrize(("call", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_reported_in_one_line(
    call: Callable[[], object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StreamplaceError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200
    assert not list(tmp_path.iterdir())


def test_numpy_numbers_and_several_rates_are_accepted() -> None:
    rates = np.array([500, 1000], dtype=np.float32)
    found = place(source_rate=rates, seed=np.int64(3), target_utilisation=np.float32(1))
    assert found.placement.problem.source_rates == (1000.0, 500.0)
    assert place(source_rate=iter([500, 1000])).placement.problem.source_rate == 1000.0


def test_misspelt_attributes_of_networkx_are_refused() -> None:
    graph = sp.to_networkx(GRAPH)
    graph.edges["a", "b"]["weight"] = 3
    graph.nodes["a"]["label"] = "first"
    assert sp.from_networkx(graph).sha256 == GRAPH.sha256
    graph.edges["a", "b"]["selectivty"] = graph.edges["a", "b"].pop("selectivity")
    message = "edges: unknown attribute 'selectivty'; did you mean 'selectivity'"
    with pytest.raises(StreamplaceError, match=message):
        sp.from_networkx(graph)


def test_reprs_shorten_long_names_and_many_rows() -> None:
    graph = sp.StreamGraph([("a" * 10_000, 1, 1), *((str(v), 1, 1) for v in range(9_999))])
    assert len(repr(graph.operators)) < 600
    assert repr(graph.operators).endswith(", and 9,997 more]")
    assert len(repr(sp.Device("d" * 10_000, 9))) < 150
    row = "Operator(name='0', instructions=1.0, payload_bytes=1.0, memory_bytes=0.0, requires=()"
    assert repr(graph.operators[1]).startswith(row)
    assert repr(sp.StreamGraph([("a", 1, 1)]).streams) == "[]"


@pytest.mark.parametrize("copied", [lambda graph: graph, deepcopy, lambda g: loads(dumps(g))])
def test_a_graph_cannot_be_changed_in_place(
    copied: Callable[[sp.StreamGraph], sp.StreamGraph],
) -> None:
    graph: Any = copied(sp.StreamGraph([("a", 1, 1, 0, ("gpu",), "b")]))
    for name, key in (("index", "zz"), ("requires", 0), ("instance_of", 0), ("instructions", 0)):
        with pytest.raises((TypeError, ValueError), match=r"assignment|read-only"):
            getattr(graph, name)[key] = 3
    assert graph.index == {"a": 0}
    assert graph.requires == {0: ("gpu",)}


def test_fractions_are_numbers() -> None:
    half: Any = Fraction(1, 2)
    whole: Any = Fraction(1)
    graph = sp.StreamGraph([("a", half, 2)], source_rate=half, source_shares={"a": whole})
    assert (graph.source_rate, graph.instructions.tolist()) == (0.5, [0.5])


def test_memory_that_overflows_is_refused() -> None:
    graph = sp.StreamGraph([("a", 1, 1, 1e308), ("b", 1, 1, 1e308)])
    with pytest.raises(StreamplaceError, match="operators: the sum of memory_bytes overflows"):
        place(graph)


def test_shares_that_overflow_are_refused() -> None:
    with pytest.raises(StreamplaceError, match=r"must sum to 1 .got inf"):
        sp.StreamGraph([("a", 1, 1), ("b", 1, 1)], source_shares={"a": 1e308, "b": 1e308})


def test_an_error_is_one_line_whatever_a_file_is_called() -> None:
    with pytest.raises(StreamplaceError) as caught:
        sp.read_graph("no\nsuch\nfile.json")
    assert str(caught.value) == "no such file.json: no such file"


NAMES = ("metis", "metis-recursive", "fuser", "Auto")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("metsi", "metis"),
        ("METIS", "metis"),
        ("auto", "Auto"),
        ("metis-recursiv", "metis-recursive"),
        ("xyz", None),
        ("", None),
        ("m" * (MAX_LENGTH + 1), None),
    ],
)
def test_the_closest_name(word: str, meant: str | None) -> None:
    assert closest_match(word, NAMES) == meant


def test_messages_with_suggestions() -> None:
    assert did_you_mean("metsi", NAMES) == "; did you mean 'metis'?"
    assert did_you_mean("xyz", NAMES) == ""
    assert candidates("metsi", NAMES) == "; did you mean 'metis'?"
    assert candidates("xyz", NAMES) == "; known: 'metis', 'metis-recursive', 'fuser', 'Auto'"
    assert candidates("x", [f"host{i}" for i in range(1007)]).endswith("'host4' and 1,002 more")
    assert valid_choices("metsi", NAMES, "or a file") == "; did you mean 'metis'?"
    assert valid_choices("xyz", ("a", "b")) == "; choose from a, b"
    assert valid_choices("xyz", ("a", "b"), "or a file") == "; choose from a, b, or a file"


def test_too_many_names_are_not_compared() -> None:
    assert closest_match("operator_7", [f"operator_{i}" for i in range(MAX_NAMES)]) == "operator_7"
    assert closest_match("operator_7", [f"operator_{i}" for i in range(MAX_NAMES + 1)]) is None
