"""Descriptions of Kafka Streams topologies."""

from dataclasses import replace

import pytest

from streamplace.errors import GraphError
from streamplace.formats.costs import CostForm, Costs
from streamplace.problem.counts import in_form, with_counts
from streamplace.problem.expansion import to_instances
from tests.corpus.engine_documents.kafka_streams import (
    KAFKA,
    KAFKA_OLD,
    STORES,
    STORES_OF_1_0,
)
from tests.support.documents import edges, read_document, refused_document


def test_topics_connect_sub_topologies() -> None:
    job = read_document("kafka-streams", KAFKA)
    assert job.graph.names == (
        *("lines", "split", "filter", "peek", "by-word"),
        *("words-in", "count", "out"),
    )
    assert edges(job) == [
        ("by-word", "words-in"),
        ("count", "out"),
        ("filter", "by-word"),
        ("lines", "split"),
        ("split", "filter"),
        ("split", "peek"),
        ("words-in", "count"),
    ]
    assert len(job.graph.unknown) == 3


def test_the_operators_of_a_sub_topology_are_one_task() -> None:
    job = read_document("kafka-streams", KAFKA)
    tasks = [["lines", "split", "filter", "peek", "by-word"], ["words-in", "count", "out"]]
    assert [list(group) for group in job.graph.constraints.colocate] == tasks
    parallel = replace(job, parallelism=dict.fromkeys(tasks[1], 2))
    graph = to_instances(parallel)
    assert [list(group) for group in graph.constraints.colocate[1:]] == [
        ["words-in[0]", "count[0]", "out[0]"],
        ["words-in[1]", "count[1]", "out[1]"],
    ]
    crossing = [s for s in graph.streams if s.source[-3:] + s.target[-3:] in ("[0][1]", "[1][0]")]
    assert not crossing  # tuples stay in their task


def test_the_parallelism_of_one_node_is_that_of_its_task() -> None:
    job = read_document("kafka-streams", KAFKA)
    graph = Costs(operators={"count": CostForm(parallelism=3)}).of(job)
    assert graph.parallelism == {"words-in": 3, "count": 3, "out": 3}
    assert len(to_instances(graph).constraints.colocate) == 1 + 3
    unequal = {"count": CostForm(parallelism=3), "out": CostForm(parallelism=2)}
    with pytest.raises(GraphError, match="are one task, so their parallelism must be equal"):
        Costs(operators=unequal).of(job)


@pytest.mark.parametrize("stores", [STORES, STORES_OF_1_0])
def test_global_stores_are_left_out(stores: str) -> None:
    """They generate no tasks, says Kafka: each instance of the application reads their topics.

    Kafka 1.0 prints them under a heading, later versions as sub-topologies. A sink that writes to
    the topic of a global store feeds no operator through it.
    """
    job = read_document("kafka-streams", KAFKA + stores)
    plain = read_document("kafka-streams", KAFKA)
    assert job.graph.sha256 == plain.graph.sha256
    assert job.graph.constraints == plain.graph.constraints
    assert not plain.notes
    (note,) = job.notes
    assert note.startswith("2 global stores left out ('names', 'places'): no tasks run them")


def test_headings_without_global_stores() -> None:
    text = KAFKA_OLD + "\nGlobal Stores:\n  none\n"
    assert read_document("kafka-streams", text).graph.sha256 == (
        read_document("kafka-streams", KAFKA_OLD).graph.sha256
    )


def test_a_sub_topology_after_a_global_store_has_tasks() -> None:
    first, second = KAFKA.split("  Sub-topology: 1\n")
    job = read_document("kafka-streams", first + STORES + "  Sub-topology: 1\n" + second)
    assert job.graph.sha256 == read_document("kafka-streams", KAFKA).graph.sha256


@pytest.mark.parametrize("stores", [STORES, STORES_OF_1_0])
def test_an_application_of_global_stores_alone_is_refused(stores: str) -> None:
    message = "contains no Kafka Streams topology besides global stores"
    assert refused_document("kafka-streams", "Topologies:\n" + stores) == message


def test_each_partition_has_one_task() -> None:
    """The number of tasks is the largest number of partitions that a sub-topology reads."""
    job = read_document("kafka-streams", KAFKA)
    graph = Costs(operators={"words-in": CostForm(partitions=3)}).of(job)
    assert graph.parallelism == {"words-in": 3, "count": 3, "out": 3}
    stated, _ = with_counts(graph)
    tasks = {stated.index[name]: 3 for name in ("words-in", "count", "out")}
    assert stated.min_parallelism == stated.max_parallelism == tasks
    wrong = {"words-in": CostForm(partitions=3), "count": CostForm(parallelism=2)}
    with pytest.raises(GraphError, match=r"one task per partition, .* must be 3 \(got 2\)"):
        Costs(operators=wrong).of(job)


def test_repartition_topics_have_as_many_partitions_as_what_is_read_before() -> None:
    """The rule of `RepartitionTopics` in Kafka Streams: the largest number of those before."""
    text = KAFKA.replace("words", "words-repartition").replace("-repartition-in", "-in")
    job = read_document("kafka-streams", text)
    assert {*job.open_counts} == {*job.graph.names}
    read = Costs(operators={"lines": CostForm(partitions=4)}).of(job)
    assert read.parallelism == dict.fromkeys(job.graph.names, 4)
    assert not read.open_counts
    more = CostForm(partitions=6)  # as by Repartitioned.withNumberOfPartitions
    own = Costs(operators={"lines": CostForm(partitions=4), "words-in": more}).of(job)
    assert [own.parallelism[name] for name in ("by-word", "count")] == [4, 6]
    assert not Costs(operators={"words-in": more}).of(job).parallelism.keys() & {"lines", "split"}


def test_tasks_of_unknown_number_are_open() -> None:
    """Other topics than those of Kafka Streams have numbers of their own."""
    job = read_document("kafka-streams", KAFKA)
    read = Costs(operators={"lines": CostForm(partitions=4)}).of(job)
    assert {*read.open_counts} == {"words-in", "count", "out"}
    _, (note,) = in_form(read, "instances")
    assert note.startswith("'count', 'out', 'words-in': the file does not state how many partit")
    stated, _ = in_form(read, "logical")
    assert stated.parallelism[stated.index["count"]] == "free"


def test_arrows_on_the_same_line() -> None:
    assert edges(read_document("kafka-streams", KAFKA_OLD)) == [
        ("by-word", "words-in"),
        ("lines", "peek"),
        ("lines", "split"),
        ("split", "by-word"),
        ("words-in", "out"),
    ]


def test_windows_lines_and_tabs() -> None:
    text = KAFKA.replace("\n", "\r\n").replace("    ", "\t\t")
    assert edges(read_document("kafka-streams", text)) == edges(
        read_document("kafka-streams", KAFKA)
    )


def test_patterns_stores_and_extractors_are_not_read_as_streams() -> None:
    text = (
        "Topologies:\n Sub-topology: 0\n"
        " Source: a (topicPattern: words.(x|y))\n  --> b\n"
        " Processor: b (stores: [words])\n  --> c\n"
        " Sink: c (extractor class: words)\n  <-- b\n"
    )
    assert edges(read_document("kafka-streams", text)) == [("a", "b"), ("b", "c")]
    more = " Sub-topology: 1\n Source: d (topics: [x])\n  --> none\n"
    (note,) = read_document("kafka-streams", text + more).notes
    assert note.startswith("a class or a pattern chooses the topics of 'a', 'c', so ")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Processor: split", "Thing: split", "line 6: must begin with Source, Processor, Sink"),
        ("Processor: split", "Processor: lines", "line 6: 'lines' is described twice"),
        ("Processor: split", "Processor: ", "line 6: the processor has no name"),
        ("--> filter, peek", "--> filter, nobody", "line 6: unknown node 'nobody'"),
        ("<-- lines", "<-- nobody", "line 6: unknown node 'nobody'"),
        ("--> split", "-->", "line 5: expected a node after the arrow"),
        ("[text, more]", "[counts]", "streams: the graph has a cycle"),
    ],
)
def test_invalid_descriptions(old: str, new: str, message: str) -> None:
    assert refused_document("kafka-streams", KAFKA.replace(old, new)).startswith(message)


def test_text_without_a_topology_is_refused() -> None:
    assert refused_document("kafka-streams", "hello") == "contains no Kafka Streams topology"


AFTER = """

Overridden Properties
---------------------
Property          | Value
\tapplication.id = app
"""


@pytest.mark.parametrize("text", [KAFKA, KAFKA_OLD])
@pytest.mark.parametrize("indentation", ["", "    "])
def test_lines_before_and_after_a_description_are_skipped(text: str, indentation: str) -> None:
    pasted = "ID : CSAS_1\n > [ PROJECT ] | Schema: ID\n\n" + text + AFTER
    pasted = "".join(indentation + line for line in pasted.splitlines(keepends=True))
    job = read_document("kafka-streams", pasted)
    assert edges(job) == edges(read_document("kafka-streams", text))


def test_a_log_line_may_begin_a_description() -> None:
    text = KAFKA.replace("\nTopologies:", "\n2026-02-01 INFO 1 --- [main] App : Topologies:")
    assert text != KAFKA
    after = "2026-02-01 INFO 1 --- [main] StreamsConfig values:\n\tapplication.id = app\n"
    assert edges(read_document("kafka-streams", text + after)) == edges(
        read_document("kafka-streams", KAFKA)
    )


def test_positions_are_those_of_the_file() -> None:
    text = "one\ntwo\n" + KAFKA.replace("Processor: split", "Thing: split")
    assert refused_document("kafka-streams", text).startswith("line 8: must begin with Source, ")


def test_a_topology_that_a_log_prints_twice_is_refused() -> None:
    message = refused_document("kafka-streams", KAFKA + "stopped\n" + KAFKA)
    assert message.endswith(": 'lines' is described twice; keep one description")


def test_nodes_of_named_topologies_may_have_equal_names() -> None:
    source = "\n   Sub-topology: 0\n    Source: a (topics: [x])\n      --> {}\n"
    part = source + "    Sink: {} (topic: {})\n"
    text = f"Topology: q1:{part.format('b', 'b', 'y')}\nTopology: q2:{part.format('c', 'c', 'z')}"
    job = read_document("kafka-streams", text)
    assert edges(job) == [("q1/a", "b"), ("q2/a", "c")]
    assert len(job.graph.constraints.colocate) == 2


def test_topics_that_a_class_or_a_pattern_chooses_are_named() -> None:
    first = (
        "Topologies:\n   Sub-topology: 0\n    Source: all (topics: [readings])\n      --> route\n"
        "    Sink: route (extractor class: com.example.Topics@713529c2)\n      <-- all\n"
    )
    second = (
        "\n  Sub-topology: 1\n    Source: rooms (topics: room-[0-9]+)\n      --> log\n"
        "    Processor: log (stores: [])\n      --> none\n      <-- rooms\n"
    )
    job = read_document("kafka-streams", first + second)
    assert edges(job) == [("all", "route"), ("rooms", "log")]
    (note,) = job.notes
    assert note.startswith("a class or a pattern chooses the topics of 'route', 'rooms', so ")
    assert not read_document("kafka-streams", first).notes  # one task only
