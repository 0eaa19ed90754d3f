"""Partitions in costs files, which complete an imported graph."""

from pathlib import Path
from typing import Any

import pytest

from streamplace.capacity.size import size
from streamplace.errors import GraphError, InfeasibleError
from streamplace.files import write_json
from streamplace.formats.costs import CostForm, Costs, with_partitions
from streamplace.problem.counts import FormName, expanded, in_form, with_counts
from streamplace.problem.expansion import to_instances, to_operators
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.logical import BY_KEY, Distribution, KeyedDistribution, LogicalGraph
from streamplace.problem.parallelism import FLINK
from tests.support.cli import Capture, json_of, refused, succeeds

PLAN: dict[str, Any] = {
    "nodes": [
        {"id": 1, "type": "Source: in", "parallelism": 2, "contents": "Source: in"},
        {
            "id": 2,
            "type": "count",
            "parallelism": 3,
            "contents": "count",
            "predecessors": [{"id": 1, "ship_strategy": "HASH", "side": "second"}],
        },
        {
            "id": 3,
            "type": "out",
            "parallelism": 1,
            "contents": "out",
            "predecessors": [{"id": 2, "ship_strategy": "REBALANCE", "side": "second"}],
        },
    ]
}


def job() -> LogicalGraph:
    """Return 2 instances of a source, and 3 of an operator by key."""
    operators = [Operator("in", 1.0, 1.0), Operator("count", 1.0, 1.0), Operator("out", 1.0, 0.0)]
    streams = [Stream("in", "count"), Stream("count", "out")]
    by_key = {("in", "count"): [BY_KEY]}
    return LogicalGraph(StreamGraph(operators, streams), {"in": 2, "count": 3}, by_key)


def test_instances_have_their_shares_of_the_partitions() -> None:
    graph = to_instances(with_partitions(job(), {"in": 3, "count": 4}))
    assert dict(zip(graph.names, graph.source_share.tolist(), strict=True))["in[0]"] == 2 / 3
    shares = {s.target: s.selectivity for s in graph.streams if s.source == "in[0]"}
    assert shares == pytest.approx({"count[0]": 0.5, "count[1]": 0.25, "count[2]": 0.25})


def test_the_logical_graph_states_them() -> None:
    costs = Costs(operators={"in": CostForm(partitions=3), "count": CostForm(partitions=4)})
    logical = costs.of(job())
    stated, notes = with_counts(logical)
    assert (stated.partitions, notes) == ({0: 3, 1: 4}, [])
    assert expanded(stated).sha256 == to_instances(logical).sha256


def test_more_instances_do_not_divide_what_goes_to_the_first() -> None:
    """Flink's GLOBAL and Storm's GLOBAL send all tuples to one instance, whatever their number."""
    rows = [Operator("in", 1e3, 1.0), Operator("count", 1e6, 1.0)]
    graph = StreamGraph(rows, [Stream("in", "count")], source_rate=1_000)
    logical = LogicalGraph(graph, {"count": 3}, {("in", "count"): [Distribution.FIRST]})
    stated, notes = with_counts(logical)
    assert notes == []
    assert expanded(stated).selectivity.tolist() == [1.0]
    with pytest.raises(InfeasibleError, match="500 tuples/s at most"):
        size(stated, "4x500", resize=True)


@pytest.mark.parametrize(
    ("partitions", "message"),
    [
        ({"out": 4}, r"^operators\['out'\].partitions: only sources and operators with streams by"),
        ({"count": 2}, r"partitions: must be at least the parallelism, 3 \(got 2\)"),
    ],
)
def test_what_does_not_fit_is_refused(partitions: dict[str, int], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        with_partitions(job(), partitions)


def test_a_source_may_have_fewer_partitions_than_instances() -> None:
    """Flink runs such a job: the other instances of the source are idle."""
    logical = with_partitions(job(), {"in": 1})
    assert to_instances(logical).source_share.tolist() == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert logical.notes == ["'in': more instances than partitions, so that some read nothing"]
    assert to_operators(logical).cores.tolist() == [1, 3, 1]
    stated, notes = with_counts(logical)
    assert not notes
    assert expanded(stated).sha256 == to_instances(logical).sha256


def test_import_reads_them_from_a_costs_file(tmp_path: Path, capsys: Capture) -> None:
    write_json(tmp_path / "plan.json", PLAN)
    lines = ("[default]", "instructions = 1e3", "[operators.count]", "partitions = 128")
    (tmp_path / "costs.toml").write_text("\n".join(lines))
    (tmp_path / "costs.csv").write_text("operator,instructions,partitions\ncount,5,128\n")
    words = ("import", tmp_path / "plan.json", "--from", "flink-plan", "--logical")
    for name in ("costs.toml", "costs.csv"):
        out = tmp_path / "graph.json"
        succeeds(capsys, *words, "--costs", tmp_path / name, "-o", out)
        assert '"partitions": 128' in out.read_text()
    (tmp_path / "costs.toml").write_text("[operators.out]\npartitions = 4")
    line = refused(capsys, *words, "--costs", tmp_path / "costs.toml", "-o", tmp_path / "g.json")
    assert "operators['out'].partitions: only sources and operators with streams by key" in line
    assert json_of(capsys, "info", tmp_path / "graph.json")["operators"] == 3


def test_flinks_default_is_named_where_it_divides_unevenly() -> None:
    """128 key groups for 85 instances: 43 have two of them, and 42 have one."""
    graph = StreamGraph([Operator("a", 1, 1), Operator("b", 1, 1)], [Stream("a", "b")])
    by_default = {("a", "b"): [KeyedDistribution(FLINK)]}

    def noted(count: int, form: FormName) -> list[str]:
        return in_form(LogicalGraph(graph, {"b": count}, by_default), form)[1]

    (note,) = noted(85, "instances")
    assert "128 for 85 instances of 'b', whose busiest has 1.33 times the mean; set" in note
    assert noted(64, "instances") == noted(64, "folded") == []
    assert "times the mean, which only a graph of instances keeps" in noted(85, "folded")[0]
    (note,) = noted(64, "logical")
    assert note.startswith("'b': no maximum parallelism is known")
    stated = in_form(LogicalGraph(graph, {"b": 85}, by_default), "logical")[0]
    assert dict(stated.partitions) == {1: FLINK}
    shares = expanded(stated).selectivity
    assert (shares.max(), shares.min()) == (2 / 128, 1 / 128)


def test_flinks_default_is_for_operators_with_inputs() -> None:
    with pytest.raises(GraphError, match=r"^operators\[0\].partitions: 'flink' is for operators"):
        StreamGraph([Operator("a", 1, 1, partitions="flink")])
    with pytest.raises(GraphError, match=r"must be a whole number or 'flink' \(got 'kafka'\)"):
        StreamGraph([Operator("a", 1, 1, partitions="kafka")])  # type: ignore[arg-type]
