"""Flink plans: operators, streams and one-line errors."""

import json
from copy import deepcopy
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from streamplace.engines.flink.plan import read
from streamplace.errors import FormatError, GraphError, located
from streamplace.formats.costs import CostForm, Costs, DefaultForm
from streamplace.problem.counts import in_form
from streamplace.problem.expansion import to_instances
from streamplace.problem.logical import BY_KEY, Distribution, KeyedDistribution, LogicalGraph
from streamplace.problem.parallelism import FLINK
from tests.corpus.engine_documents.flink import (
    FLINK_COMPILED,
    FLINK_EXECUTION,
    FLINK_RUNNING,
    FLINK_TABLES,
)
from tests.support.released_data import engine_document

BY_KEY_GROUP = KeyedDistribution(FLINK)
MIXED = {
    ("Source: Sequence Source", "src"),
    ("src", "even"),
    ("src", "odd"),
    ("even", "OP1"),
    ("OP1", "OP3"),
    ("OP3", "sink"),
    ("odd", "OP2"),
    ("OP2", "OP4"),
    ("OP4", "sink"),
    ("sink", "Sink: Writer"),
}


def sample_plan(name: str) -> LogicalGraph:
    return read(engine_document(f"flink23_{name}.json"), name)


def ends(job: LogicalGraph) -> set[tuple[str, str]]:
    return {(s.source, s.target) for s in job.graph.streams}


@pytest.mark.parametrize("name", ["mixed_chained_plan", "mixed_chained_job", "mixed_nochain_plan"])
def test_chains_are_split_and_ambiguous_streams_guessed(name: str) -> None:
    job = sample_plan(name)
    assert ends(job) == MIXED
    assert len(job.graph.names) == len(job.graph.streams) == 10
    assert set(job.guessed) == {("even", "OP1"), ("odd", "OP2")}
    assert not job.parallelism
    assert len(job.graph.unknown) == 3


def test_execution_plan_of_sql() -> None:
    job = sample_plan("sql_q4_execplan")
    assert len(job.graph.names) == 12
    assert len(job.graph.streams) == 11
    assert set(job.parallelism.values()) == {2}
    assert ("Calc[11]", "Join[17]") in ends(job)
    assert job.distributions["Calc[11]", "Join[17]"] == [BY_KEY_GROUP]
    assert list(job.distributions[("Join[17]", "Calc[18]")]) == [Distribution.POINTWISE]
    assert not job.guessed
    graph = to_instances(job)
    assert len(graph.names) == 24
    assert len(graph.streams) == 7 * 2 + 4 * 4  # one to one, and all to all


def test_ship_strategies() -> None:
    strategies = ["FORWARD", "RESCALE", "HASH", "REBALANCE", "BROADCAST", "GLOBAL", "CUSTOM"]
    nodes: list[dict[str, Any]] = [{"id": 1, "type": "a", "parallelism": 3}]
    for i, strategy in enumerate(strategies, start=2):
        before = [{"id": 1, "ship_strategy": strategy, "side": "second"}]
        nodes.append({"id": i, "type": strategy, "parallelism": 2, "predecessors": before})
    job = read(json.dumps({"nodes": nodes}), "x")
    found = {target: list(how) for (_, target), how in job.distributions.items()}
    assert found == {
        "FORWARD": [Distribution.POINTWISE],
        "RESCALE": [Distribution.POINTWISE],
        "HASH": [BY_KEY_GROUP],
        "BROADCAST": [Distribution.BROADCAST],
        "GLOBAL": [Distribution.FIRST],
    }
    (note,) = job.notes
    assert note.startswith("how the job's own partitioner divides 'a -> CUSTOM' is unknown")


@pytest.mark.parametrize(
    ("strategy", "how"),
    [
        ("HASH[word, day]", [BY_KEY]),
        ("Hash Partition on [0]", [BY_KEY]),
        ("Forward", [Distribution.POINTWISE]),
        ("Broadcast", [Distribution.BROADCAST]),
        ("Range Partition on [0:ASC]", None),
        ("Custom Partition on [0]", None),
        ("Redistribute", None),
    ],
)
def test_ship_strategies_of_batch_jobs(strategy: str, how: list[Any] | None) -> None:
    """SQL (``BinaryHashPartitioner`` of Flink 2.3) and the DataSet API of Flink 1 name the keys."""
    nodes = [
        {"id": "b", "description": "b", "inputs": [{"id": "a", "ship_strategy": strategy}]},
        {"id": "a", "description": "CHAIN s (x -> y) -> a"},
    ]
    job = read(json.dumps({"nodes": nodes}), "x")
    assert job.graph.names == ("b", "s (x -> y)", "a")
    found = job.distributions.get(("a", "b"))
    assert (None if found is None else [*found]) == how
    assert any("own partitioner" in note for note in job.notes) == strategy.startswith("Custom")


def test_execution_plan_of_the_data_set_api() -> None:
    """Its types are few, numbers are in quotes, and an iteration holds a plan of its own.

    So writes ``PlanJSONDumpGenerator`` of Flink 1.
    """
    nodes: list[dict[str, Any]] = [
        {"id": 1, "type": "source", "contents": "at lines(Job)", "parallelism": "1"},
        {
            "id": 2,
            "type": "bulk_iteration",
            "contents": "Bulk Iteration",
            "parallelism": "4",
            "step_function": [{"id": 3, "type": "pact"}],
            "predecessors": [{"id": 1, "ship_strategy": "Redistribute"}],
        },
        {
            "id": 4,
            "type": "pact",
            "pact": "Union",
            "contents": "",
            "parallelism": "default",
            "predecessors": [{"id": 2, "ship_strategy": "Hash Partition on [0]"}],
        },
    ]
    job = read(json.dumps({"nodes": nodes}), "x")
    assert job.graph.names == ("at lines(Job)", "Bulk Iteration", "Union")
    assert job.parallelism == {"Bulk Iteration": 4}
    assert job.distributions["Bulk Iteration", "Union"] == [BY_KEY]
    assert job.notes == ["'Bulk Iteration': the steps of an iteration count as one operator"]
    nodes[0]["parallelism"] = "many"
    with pytest.raises(FormatError, match="must be a whole number"):
        read(json.dumps({"nodes": nodes}), "x")


@pytest.mark.parametrize(
    ("chain", "fed", "links", "guessed"),
    [
        ("s<br/>+- Sink: Print to Std. Out<br/>", ["w"], {("s", "w")}, 0),
        ("s<br/>+- print: Writer<br/>", ["w"], {("s", "w")}, 0),
        ("s<br/>+- x: Writer<br/>", ["x: Committer"], {("x: Writer", "x: Committer")}, 0),
        ("s<br/>+- m<br/>   +- Sink: a<br/>", ["w"], {("m", "w")}, 1),  # s might feed w instead
        ("s<br/>+- m<br/>", ["w"], {("m", "w")}, 0),  # m feeds nothing else
        ("s<br/>+- m<br/>", ["w", "v"], {("m", "w"), ("m", "v")}, 2),  # s might feed either of them
        ("s<br/>:- m<br/>+- n<br/>", ["w", "v"], {("m", "w"), ("n", "v")}, 2),
        ("s<br/>", ["w", "v"], {("s", "w"), ("s", "v")}, 0),
    ],
)  # fmt: skip
def test_senders_in_a_chain(
    chain: str, fed: list[str], links: set[tuple[str, str]], guessed: int
) -> None:
    nodes = [
        {"id": name, "description": f"{name}<br/>", "inputs": [{"id": "chain"}]} for name in fed
    ]
    job = read(json.dumps({"nodes": [*nodes, {"id": "chain", "description": chain}]}), "x")
    assert {link for link in ends(job) if link[1] in fed} == links
    assert len(job.guessed) == guessed


def test_repeated_names_in_a_rest_plan_are_numbered_from_the_sources() -> None:
    nodes = [
        {"id": "c", "description": "Map<br/>", "inputs": [{"id": "b"}]},
        {"id": "b", "description": "Map<br/>", "inputs": [{"id": "a"}]},
        {"id": "a", "description": "s<br/>"},
    ]
    job = read(json.dumps({"nodes": nodes}), "x")
    assert ends(job) == {("s", "Map"), ("Map", "Map#2")}
    (note,) = job.notes
    assert "several operators are named 'Map'" in note


def test_sinks_inside_a_forked_chain_feed_nothing() -> None:
    nodes = [
        {"id": "a", "description": "s<br/>:- Sink: print<br/>+- m<br/>"},
        {"id": "b", "description": "t", "inputs": [{"id": "a", "ship_strategy": "HASH"}]},
    ]
    job = read(json.dumps({"plan": {"nodes": nodes}}), "x")
    assert ("m", "t") in ends(job)
    assert not job.guessed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("[]", "not a Flink plan"),
        ('{"jobs": []}', "expected an object with 'nodes', as GET /jobs/ID/plan answers"),
        ('{"nodes": []}', "nodes"),
        ('{"nodes": [{"id": 1}, {"id": 1, "type": "A"}]}', "1 is also the id of nodes\\[0\\]"),
        ('{"nodes": [{"id": 1, "predecessors": [{"id": 2}]}]}', "unknown node 2"),
        ('{"nodes": [{"id": "a", "inputs": [{"id": "b"}]}]}', "unknown node 'b'"),
        ('{"nodes": [{"id": 1, "parallelism": 0}]}', "parallelism"),
        ('{"nodes": [{"id": 1, "parallelism": true}]}', "parallelism"),
        ('{"nodes": [{"id": 1, "predecessors": [{"id": 1}]}]}', "feeds itself"),
        ("{" * 100_000, "not JSON|nested"),
    ],
)
def test_invalid_plans(text: str, message: str) -> None:
    with pytest.raises((FormatError, GraphError), match=message), located("x", FormatError):
        read(text, "x")


def test_a_compiled_plan_is_read_with_its_edges() -> None:
    """Flink writes FORWARD for all edges; what the input of an exchange requires divides tuples."""
    job = read(json.dumps(FLINK_COMPILED), "compiled")
    scan, keyed, grouped, single, rank, sink = job.graph.names
    assert [name.partition("#")[0] for name in (keyed, single)] == ["stream-exec-exchange_1"] * 2
    assert ends(job) == {*pairwise(job.graph.names)}
    assert "EXPLAIN JSON_EXECUTION_PLAN" in job.notes[0]
    kinds = dict(zip([*pairwise(job.graph.names)], job.stream_distributions, strict=True))
    assert kinds == {
        (scan, keyed): Distribution.POINTWISE,
        (keyed, grouped): BY_KEY_GROUP,
        (grouped, single): Distribution.POINTWISE,
        (single, rank): Distribution.FIRST,
        (rank, sink): Distribution.POINTWISE,
    }
    assert [job.graph.names[v] for v in job.graph.sources] == [scan]


def test_an_exchange_of_a_compiled_plan_is_part_of_its_sender() -> None:
    """At run time it is how the sender sends, so that it takes no time and has no device."""
    job = read(json.dumps(FLINK_COMPILED), "compiled")
    scan, keyed, grouped, single, *_ = job.graph.names
    assert job.graph.operators[1].instructions == 0.0
    assert np.isnan(job.graph.operators[0].instructions)
    assert [s.selectivity for s in job.graph.streams if s.source == keyed] == [1.0]
    costed = Costs(operators={scan: CostForm(parallelism=3)}).of(job)
    assert costed.parallelism == {scan: 3, keyed: 3}
    assert to_instances(costed).constraints.colocate == (
        *((f"{scan}[{i}]", f"{keyed}[{i}]") for i in range(3)),
        (grouped, single),
    )


def compiled(edges: str, **requires: str) -> dict[str, Any]:
    """Return a compiled plan of edges such as ``ax xc``; `requires` has the exchanges' inputs.

    The node u is a union.
    """
    kinds = dict.fromkeys(requires, "exchange") | {"u": "union"}
    types = {name: f"stream-exec-{kinds.get(name, name)}_1" for name in edges if name != " "}
    numbers = {name: i for i, name in enumerate(types)}
    return {
        "flinkVersion": "2.3",
        "nodes": [
            {
                "id": numbers[name],
                "type": kind,
                "inputProperties": [{"requiredDistribution": {"type": requires.get(name, "ANY")}}],
            }
            for name, kind in types.items()
        ],
        "edges": [
            {"source": numbers[pair[0]], "target": numbers[pair[1]], "shuffle": {"type": "FORWARD"}}
            for pair in edges.split()
        ],
    }


def short_ends(job: LogicalGraph) -> set[tuple[str, ...]]:
    return {
        tuple(name.removeprefix("stream-exec-").replace("_1", "") for name in each)
        for each in ends(job)
    }


def test_the_inputs_of_a_union_in_a_compiled_plan_send_to_its_receivers() -> None:
    """Flink's own execution plans of such queries have no operator for the union either."""
    job = read(json.dumps(compiled("au bu uc ud")), "compiled")
    assert short_ends(job) == {("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")}
    twice = read(json.dumps(compiled("au au uc")), "compiled")
    assert len(twice.graph.streams) == 2


def test_an_exchange_behind_a_union_is_part_of_each_sender() -> None:
    job = read(json.dumps(compiled("au bu ux xc", x="HASH")), "compiled")
    assert short_ends(job) == {
        ("a", "exchange"),
        ("exchange", "c"),
        ("b", "exchange#2"),
        ("exchange#2", "c"),
    }
    kinds = dict(zip(job.graph.streams, job.stream_distributions, strict=True))
    assert [kind for stream, kind in kinds.items() if "exchange" in stream.source] == [
        BY_KEY_GROUP
    ] * 2
    assert to_instances(job).constraints.colocate == (
        ("stream-exec-a_1", "stream-exec-exchange_1"),
        ("stream-exec-b_1", "stream-exec-exchange_1#2"),
    )


def test_nested_unions_have_at_most_a_million_streams() -> None:
    """Each union here doubles the streams."""
    chain = [{"id": i, "type": "stream-exec-union_1"} for i in range(40)]
    plan = {
        "flinkVersion": "2.3",
        "nodes": [*chain, {"id": -1, "type": "a"}, {"id": -2, "type": "b"}],
        "edges": [{"source": i - 1, "target": i} for i in range(40) for _ in "ab"]
        + [{"source": 39, "target": -2}],
    }
    with pytest.raises(FormatError, match="compiled: more than 1,000,000 streams"):
        read(json.dumps(plan), "compiled")


def test_tables_state_the_parallelism_of_sources_and_sinks() -> None:
    """Options ``scan.parallelism`` and ``sink.parallelism``, which only connectors with them take.

    ``CommonExecSink`` and ``CommonExecTableSourceScan`` of Flink 2.3 follow them.
    """
    job = read(json.dumps(FLINK_TABLES), "compiled")
    scan, keyed, *_, sink = job.graph.names
    assert job.parallelism == {scan: 2, keyed: 2, sink: 4}
    costed = Costs(operators={scan: CostForm(parallelism=3)}).of(job)
    assert costed.parallelism == {scan: 3, keyed: 3, sink: 4}
    plan = deepcopy(FLINK_TABLES)
    table = plan["nodes"][5]["dynamicTableSink"]["table"]
    table["resolvedTable"]["options"]["sink.parallelism"] = "0"
    with pytest.raises(FormatError, match=r"sink\.parallelism: must be at least 1"):
        read(json.dumps(plan), "compiled")
    del table["resolvedTable"]  # where the plan contains the identifiers of tables only
    assert read(json.dumps(plan), "compiled").parallelism == {scan: 2, keyed: 2}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edges": [{"source": 9, "target": 2}]}, r"edges\[0\].source: unknown node 9"),
        ({"edges": [{"source": 1, "target": 9}]}, r"edges\[0\].target: unknown node 9"),
        ({"edges": [{"source": 1}]}, r"edges\[0\]: missing field 'target'"),
        ({"nodes": []}, "nodes"),
    ],
)
def test_invalid_compiled_plans(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=message), located("x", FormatError):
        read(json.dumps(FLINK_COMPILED | change), "x")


def test_a_compiled_plan_without_edges_is_refused() -> None:
    plan = {key: value for key, value in FLINK_COMPILED.items() if key != "edges"}
    with pytest.raises(FormatError, match="missing field 'edges'"):
        read(json.dumps(plan), "x")


def test_a_compiled_batch_query_divides_hashes_evenly() -> None:
    """Only queries of streams have key groups."""
    plan = json.dumps(compiled("ax xc", x="HASH")).replace("stream-exec", "batch-exec")
    assert [BY_KEY] in read(plan, "x").distributions.values()


def of_vertices(count: int, **of_job: Any) -> dict[str, Any]:
    """Return the plan of a source and a keyed operator, with the document of its job around it."""
    nodes = [
        {
            "id": "b",
            "description": "count",
            "parallelism": count,
            "inputs": [{"id": "a", "ship_strategy": "HASH"}],
        },
        {"id": "a", "description": "Source: s", "parallelism": count},
    ]
    return {"plan": {"name": "job", "nodes": nodes}, **of_job}


def busiest(job: LogicalGraph) -> float:
    """Return the largest share of an instance of the keyed operator."""
    graph = to_instances(job)
    into = [e for e, s in enumerate(graph.streams) if s.source in ("Source: s", "Source: s[0]")]
    return float(graph.selectivity[into].max())


@pytest.mark.parametrize(
    ("count", "vertices", "share"),
    [
        (85, {}, 2 / 128),
        (86, {}, 3 / 256),
        (128, {}, 2 / 256),
        (85, {"maxParallelism": 170}, 2 / 170),
        (85, {"maxParallelism": -1}, 2 / 128),
        (85, {"maxParallelism": None}, 2 / 128),
    ],
)
def test_key_groups_are_those_that_flink_takes_by_default(
    count: int, vertices: dict[str, Any], share: float
) -> None:
    """``KeyGroupRangeAssignment.computeDefaultMaxParallelism``, unless the job states a number."""
    plan = of_vertices(count, vertices=[{"id": "b", **vertices}])
    job = Costs(default=DefaultForm(instructions=1, payload_bytes=1, selectivity=1)).of(
        read(json.dumps(plan), "x")
    )
    assert busiest(job) == pytest.approx(share)
    by_job = {"vertices": [{"id": "b"}], "maxParallelism": vertices.get("maxParallelism")}
    assert busiest(
        Costs(default=DefaultForm(instructions=1, payload_bytes=1, selectivity=1)).of(
            read(json.dumps(of_vertices(count, **by_job)), "x")
        )
    ) == pytest.approx(share)
    stated = CostForm(partitions=256, instructions=1, payload_bytes=1)
    again = Costs(operators={"count": stated}, streams={"Source: s->count": 1.0}).of(job)
    assert busiest(again) == pytest.approx(-(-256 // count) / 256)


def test_minus_one_leaves_the_number_of_instances_open() -> None:
    """Flink's adaptive batch scheduler chooses it (FLIP-187); the costs may state it."""
    job = read(json.dumps(of_vertices(-1)), "x")
    assert (job.parallelism, {*job.open_counts}) == ({}, {"Source: s", "count"})
    both = Costs(
        default=DefaultForm(parallelism=4), operators={"count": CostForm(parallelism=3)}
    ).of(job)
    assert both.parallelism == {"Source: s": 4, "count": 3}
    assert not both.open_counts
    one = Costs(operators={"count": CostForm(parallelism=1)}).of(job)
    assert (one.parallelism, [*one.open_counts]) == ({}, ["Source: s"])
    graph, notes = in_form(one, "logical")
    assert dict(graph.parallelism) == {0: 1, 1: "free"}
    assert len(notes) == 1  # on key groups
    graph, notes = in_form(one, "instances")
    assert len(graph.names) == 2
    (note,) = notes
    assert note.startswith("'Source: s': the file leaves the number of instances open")
    chosen = of_vertices(-1, vertices=[{"id": "a", "parallelism": 3}, {"id": "b"}])
    job = read(json.dumps(chosen), "x")
    assert (job.parallelism, [*job.open_counts]) == ({"Source: s": 3}, ["count"])
    execution = {"nodes": [{"id": 1, "type": "a", "parallelism": -1}]}
    assert [*read(json.dumps(execution), "x").open_counts] == ["a"]
    with pytest.raises(FormatError, match="must be at least 1"):
        read(json.dumps(of_vertices(-2)), "x")


@pytest.mark.parametrize("plan", [FLINK_EXECUTION, FLINK_RUNNING["plan"], FLINK_COMPILED])
def test_repeated_nodes_count_once(plan: dict[str, Any]) -> None:
    twice = {**plan, "nodes": [node for node in plan["nodes"] for _ in range(2)]}
    assert read(json.dumps(twice), "x").graph.sha256 == read(json.dumps(plan), "x").graph.sha256
