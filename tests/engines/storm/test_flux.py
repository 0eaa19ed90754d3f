"""Storm's Flux files."""

import pytest

from streamplace.errors import GraphError
from streamplace.formats.costs import Costs
from streamplace.problem.expansion import to_instances
from streamplace.problem.logical import BY_KEY, Distribution
from tests.corpus.engine_documents.storm import FLUX, FLUX_RESOURCES
from tests.support.documents import edges, read_document, refused_document

WORDS = [("count", "log"), ("lines", "split"), ("split", "count"), ("split", "count")]


def test_a_flux_file_is_read() -> None:
    job = read_document("storm-flux", FLUX)
    assert job.graph.name == "words"
    assert job.graph.names == ("lines", "split", "count", "log")
    assert edges(job) == WORDS
    assert job.parallelism == {"lines": 2, "split": 3, "count": 4}
    assert job.distributions == {
        ("split", "count"): [BY_KEY, Distribution.BROADCAST],
        ("count", "log"): [Distribution.FIRST],
    }
    assert job.graph.lacking == [
        "instructions of 'lines', 'split', 'count', 'log'",
        "payload_bytes of 'lines', 'split', 'count'",
        "selectivity of 'lines->split', 'split->count', 'count->log'",
    ]


def test_flux_expands_into_executors() -> None:
    graph = to_instances(read_document("storm-flux", FLUX))
    assert len(graph.names) == 2 + 3 + 4 + 1
    assert len(graph.streams) == 2 * 3 + 2 * 3 * 4 + 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: ", "name: [", "not YAML: "),
        ("name: ", "name: !!python/object/apply:os.system ", "line 2 column 7: tags are not"),
        ("config:", "config: &a\n  b: *a", "line 3 column 9: aliases (*) are not allowed"),
        ("config:", "name: x\nconfig:", "line 3 column 1: key 'name' appears twice"),
        ("parallelism: 2", "parallelism: 0", "spouts[0].parallelism: must be at least 1 (got 0)"),
        ("parallelism: 2", "onHeapMemoryLoad: 1.5", "spouts[0].onHeapMemoryLoad: must be a whole"),
        ("parallelism: 2", "parallelism: 1e9", "spouts[0].parallelism: must be a whole number"),
        (
            "parallelism: 2",
            "parallelism: 999999999",
            "spouts[0].parallelism: must be at most 100,000 (got",
        ),
        ("parallelism: 2", "parallelism: !!int x", "spouts[0].parallelism: must be a whole number"),
        ("SHUFFLE", "GUESS", "streams[0].grouping.type: must be 'ALL'"),
        ('to: "split"', 'to: "nobody"', "streams[0]: unknown spout or bolt 'nobody'"),
        ('to: "split"', 'to: "lines"', "streams[0].to: 'lines' is a spout, not a bolt"),
        ('to: "log"', 'to: "split"', "streams: the graph has a cycle: split -> count -> split"),
        (
            '- id: "log"',
            '- id: "count"\n  - id: "log"',
            "operators[3].name: duplicate name 'count', see operators[2]; rename one",
        ),
        ("config:", "topologySource:", "topologySource: not supported, since a class builds"),
    ],
)
def test_invalid_flux_files(old: str, new: str, message: str) -> None:
    assert refused_document("storm-flux", FLUX.replace(old, new)).startswith(message)


def test_yaml_that_is_not_a_flux_file() -> None:
    assert refused_document("storm-flux", "") == "is empty"
    assert refused_document("storm-flux", "- a") == "must be an object (got a list)"
    assert refused_document("storm-flux", "? [a]\n: b").startswith(
        "line 1 column 3: keys must be text"
    )
    without = "operators: a graph needs at least one operator"
    assert refused_document("storm-flux", "name: x").startswith(without)


def test_too_many_brackets() -> None:
    """Without a limit, three megabytes of brackets take a minute."""
    for opening in ("", "a: "):
        text = opening + "[" + "[]," * 2**20
        message = "more than 10,000 lists and objects in brackets at line 1 column "
        assert message in refused_document("storm-flux", text)


def test_what_executors_request() -> None:
    """Loads are MiB of one executor (VertexDef); a component's settings precede the topology's.

    Flux 2.8 passes an off-heap load on only if there is an on-heap load. The map of resources is
    Flux 3's. Amounts that nobody states, which Storm fills in, stay unknown.
    """
    job = read_document("storm-flux", FLUX_RESOURCES)
    mib = 2**20
    assert job.graph.memory_bytes.tolist() == [1536 * mib, 64 * mib, 2048 * mib]
    assert job.graph.resources == {2: {"gpu.count": 1.0}}
    constraints, loads, placeholders = job.notes
    assert constraints.startswith("topology.ras.constraints and topology.spread.components are not")
    assert loads.startswith("cpuLoad of 'lines' is not read")
    assert placeholders.startswith("${path} stands for a value of a properties file")
    assert not read_document("storm-flux", FLUX).graph.memory_bytes.any()


def test_tasks_limit_executors() -> None:
    """A component has at most one executor per task (numTasks, topology.max.task.parallelism)."""
    job = read_document("storm-flux", FLUX_RESOURCES)
    assert job.parallelism == {"lines": 6, "split": 3, "count": 2}
    assert job.max_parallelism == {"lines": 6, "split": 6, "count": 2}


def test_streams_of_storm_itself_are_left_out() -> None:
    """`storm-ui` leaves them out too. A bolt that gets only ticks is no source of tuples."""
    text = (
        FLUX
        + """\
  - {from: __system, to: count, grouping: {type: ALL, streamId: __tick}}
  - {from: lines, to: log, grouping: {type: ALL, streamId: __ack_init}}
"""
    )
    assert edges(read_document("storm-flux", text)) == WORDS
    ticking = text.replace("bolts:", "bolts:\n  - id: alarm") + (
        "  - {from: __system, to: alarm, grouping: {type: ALL, streamId: __tick}}\n"
    )
    job = read_document("storm-flux", ticking)
    shares = dict(zip(job.graph.names, job.graph.source_share.tolist(), strict=True))
    assert shares["lines"] == 1.0
    assert shares["alarm"] == 0.0
    assert job.notes == ["no stream leads to the bolts 'alarm', so they count as idle"]


@pytest.mark.parametrize(
    ("placeholders", "meaning"),
    [
        (["${x}"], "${x} stands for a value of a properties file (flux --filter)"),
        (["${hosts[0]}"], "${hosts[0]} stands for a value of a properties file (flux --filter)"),
        (["${a}", "${b.c}"], "${a}, ${b.c} stand for values of a properties file (flux --filter)"),
        (
            ["${ENV-X}"],
            "${ENV-X} stands for an environment variable (flux --env-filter)",
        ),
        (
            ["${ENV-X}", "${a}"],
            "${a} stands for a value of a properties file (flux --filter) and "
            "${ENV-X} stands for an environment variable (flux --env-filter)",
        ),
    ],
)
def test_placeholders_are_named(placeholders: list[str], meaning: str) -> None:
    """Flux replaces them before it parses YAML, so they are valid in brackets (FluxParser).

    They are refused only where the graph needs their value.
    """
    values = f"[{', '.join(placeholders)}]"
    method = f"bolts:\n  - id: extra\n    configMethods:\n      - {{name: with, args: {values}}}"
    text = "# ${comment}\n" + FLUX.replace("bolts:", method).replace('"words"', '"my ${a}"')
    job = read_document("storm-flux", text.replace("${a}", placeholders[0]))
    assert job.graph.name == f"my {placeholders[0]}"
    assert any(note.endswith("which the graph does not need") for note in job.notes)
    for old in ("parallelism: 2", 'id: "log"', "type: GLOBAL", "topology.workers: 1"):
        key = "topology.tasks" if old.startswith("topology") else old.partition(":")[0]
        needing = FLUX.replace("bolts:", method).replace(old, f"{key}: {values}")
        them = "it" if len(placeholders) == 1 else "them"
        assert refused_document("storm-flux", needing) == f"{meaning}; replace {them} first"


def test_placeholders_of_resources_are_named() -> None:
    """The names of resources are the topology's own."""
    amount = "topology.component.resources.map: {gpu: ${gpus}}"
    text = FLUX.replace("topology.workers: 1", amount)
    message = "${gpus} stands for a value of a properties file (flux --filter); replace it first"
    assert refused_document("storm-flux", text) == message


def test_includes_are_not_read() -> None:
    text = "includes:\n  - {resource: true, file: /more.yaml}\n" + FLUX
    assert read_document("storm-flux", text).notes == [
        "includes are not read: merge the spouts, bolts, streams and settings in them first"
    ]
    elsewhere = text.replace('to: "log"', 'to: "elsewhere"')
    assert refused_document("storm-flux", elsewhere) == (
        "streams[3]: unknown spout or bolt 'elsewhere'; includes are not read, so merge them first"
    )
    alone = "name: all\nincludes:\n  - {resource: true, file: /more.yaml}\n"
    assert refused_document("storm-flux", alone) == (
        "no spouts; includes are not read, so merge them first"
    )


@pytest.mark.parametrize("order", [1, -1])
def test_costs_of_two_streams_between_one_pair(order: int) -> None:
    """Costs name one of them by its id; a stream without a stated one is ``default``."""
    streams = ["{type: FIELDS}", "{type: ALL, streamId: control}"][::order]
    text = "spouts: [{id: a, parallelism: 2}]\nbolts: [{id: b, parallelism: 2}]\nstreams:\n"
    text += "".join(f"- {{from: a, to: b, grouping: {grouping}}}\n" for grouping in streams)
    job = read_document("storm-flux", text)
    for rare, often in ((1e-6, 0.5), (0.5, 1e-6)):  # parallel streams are sorted by selectivity
        found = Costs(streams={"a->b:control": rare, "a->b:default": often}).of(job)
        kinds = zip(found.graph.selectivity.tolist(), found.stream_distributions, strict=True)
        assert dict(kinds) == {rare: Distribution.BROADCAST, often: BY_KEY}
        ids = zip(found.graph.selectivity.tolist(), found.stream_ids, strict=True)
        assert dict(ids) == {rare: "control", often: "default"}
    found = Costs(streams={"a->b": 0.5, "a->b:control": 0.1}).of(job)
    assert sorted(found.graph.selectivity.tolist()) == [0.1, 0.5]
    with pytest.raises(GraphError, match="unknown stream 'a->b:contrl'; did you mean"):
        Costs(streams={"a->b:contrl": 1}).of(job)
