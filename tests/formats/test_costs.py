"""Costs files: valid and invalid ones, and which number takes precedence."""

from pathlib import Path

import pytest

from streamplace.errors import FormatError, GraphError
from streamplace.formats.costs import CostForm, Costs, DefaultForm
from streamplace.problem.expansion import to_instances
from streamplace.problem.graph import UNKNOWN, Operator, Stream, StreamGraph
from streamplace.problem.logical import Distribution, LogicalGraph

TOML = """
source_rate = 1e4
[default]
payload_bytes = 100
[operators.parse]
instructions = 20000
selectivity = 0.5
[operators."count words"]
memory_bytes = 1e6
[streams]
"parse->count words" = 0.25
"""
CSV = """\
operator,instructions,payload_bytes,memory_bytes,selectivity
parse,20000,,,0.5
"count words", 7 ,8,1e6,
"""


def parse_and_count(parse: Operator | None = None, *streams: Stream) -> LogicalGraph:
    """Return parse -> count words, with unknown numbers by default."""
    rows = [
        parse or Operator("parse", UNKNOWN, UNKNOWN),
        Operator("count words", UNKNOWN, UNKNOWN),
    ]
    default = Stream("parse", "count words", UNKNOWN)
    return LogicalGraph(StreamGraph(rows, streams or [default], name="job"))


def read_costs(tmp_path: Path, text: str, name: str = "costs.toml") -> Costs:
    """Write a costs file and read it."""
    file = tmp_path / name
    file.write_text(text)
    return Costs.read(file)


def test_costs_as_toml(tmp_path: Path) -> None:
    costs = read_costs(tmp_path, TOML)
    assert costs.source_rate == 1e4
    assert costs.default == DefaultForm(payload_bytes=100)
    assert costs.operators == {
        "parse": CostForm(instructions=20000, selectivity=0.5),
        "count words": CostForm(memory_bytes=1e6),
    }
    assert costs.streams == {"parse->count words": 0.25}


@pytest.mark.parametrize("name", ["costs.csv", "costs.CSV", "Costs.Csv"])
def test_costs_as_csv(name: str, tmp_path: Path) -> None:
    costs = read_costs(tmp_path, CSV, name)
    assert costs.operators == {
        "parse": CostForm(instructions=20000, selectivity=0.5),
        "count words": CostForm(instructions=7, payload_bytes=8, memory_bytes=1e6),
    }
    assert (costs.source_rate, costs.default, costs.streams) == (None, DefaultForm(), {})


def test_csv_of_spreadsheets(tmp_path: Path) -> None:
    """CSV may have a byte order mark, CRLF and blank lines."""
    costs = read_costs(tmp_path, "\ufeffoperator,instructions\r\n\r\nparse,5\r\n", "costs.csv")
    assert costs.operators == {"parse": CostForm(instructions=5)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("operators = 3", "operators: must be an object (got 3)"),
        (
            "[operators.parse]\ninstruction = 3",
            "operators.parse: unknown field 'instruction'; did you mean 'instructions'?",
        ),
        ("[default]\npartitions = 4", "default: unknown field 'partitions'"),
        ("[operators.parse]\ninstructions = -3", "instructions"),
        ("[operators.parse]\ninstructions = nan", "instructions"),
        ("[operators.parse]\ninstructions = inf", "instructions"),
        ("[operators.parse]\ninstructions = '3'", "must be a number"),
        ("[operators.'']\ninstructions = 3", "operators"),
        ("source_rate = 0", "source_rate"),
        ("x = [", "not TOML"),
        ("a = 1\na = 2", "not TOML"),
        ("source_rate = " + "9" * 5000, "an integer has too many digits"),
        ("source_rate = 0x" + "f" * 5000, "an integer has too many digits"),
        ("source_rate = " + "[" * 100_000, "nested too deeply"),
    ],
)
def test_bad_toml(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        read_costs(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path}/costs.toml: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("parse,3\n", "line 1: unknown column 'parse'; choose from operator, from, to, instr"),
        ("from,to,payload_kb\na,b,1\n", "stream 'a->b': costs have the payload of each operator"),
        ("operator,instructions\nparse,-1\n", "instructions"),
        ("operator,instructions\nparse,nan\n", "instructions"),
        ('operator,instructions\n"parse,1\n', "not CSV"),
    ],
)
def test_bad_csv(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        read_costs(tmp_path, text, "costs.csv")
    assert str(caught.value).startswith(f"{tmp_path}/costs.csv: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_with_rows_of_operators_and_streams(tmp_path: Path) -> None:
    text = "name,from,to,cpu_us,selectivity\nparse,,,3,\n,parse,count words,,0.25\n"
    costs = read_costs(tmp_path, text, "costs.csv")
    assert costs.operators == {"parse": CostForm(instructions=7500)}
    assert costs.streams == {"parse->count words": 0.25}
    assert "cpu_us is the time on a core of 2500 MIPS" in costs.of(parse_and_count()).notes[0]


def test_rates_of_sources(tmp_path: Path) -> None:
    """As a column of CSV or a table of TOML; every source needs one."""
    rows = [Operator(name, 1, 1) for name in ("orders", "clicks", "join")]
    job = LogicalGraph(StreamGraph(rows, [("orders", "join"), ("clicks", "join")]))
    header = "operator,instructions,source_rate\n"
    csv = read_costs(tmp_path, f"{header}orders,5,8k\nclicks,,2000/s\njoin,7,\n", "costs.csv")
    toml = read_costs(tmp_path, '[source_rates]\norders = "8k"\nclicks = 2000\n')
    for costs in (csv, toml):
        graph = costs.of(job).graph
        assert graph.source_rate == 10_000
        assert graph.source_share.tolist() == [0.8, 0.2, 0.0]
    assert csv.of(job).graph.instructions.tolist() == [5, 1, 7]
    for rows_of, fault in (
        ("orders,,8k\n", "missing: 'clicks'"),
        ("orders,,8k\nclicks,,1\njoin,,1\n", "not one of them: 'join'"),
    ):
        with pytest.raises(GraphError, match=fault):
            read_costs(tmp_path, header + rows_of, "costs.csv").of(job)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"none\.toml"):
        Costs.read(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (
            Costs(operators={"parse": CostForm(), "prase": CostForm()}),
            "^operators: unknown operator 'prase'; did you mean 'parse'\\?$",
        ),
        (
            Costs(operators={"a": CostForm(), "b": CostForm()}),
            "^operators: unknown operators 'a', 'b'; known: 'parse', ",
        ),
        (Costs(streams={"x->y": 1.0}), "^streams: unknown stream 'x->y'$"),
        (
            Costs(streams={"parse>count words": 1.0}),
            "^streams: unknown stream 'parse>count words'; did you mean 'parse->count words'\\?$",
        ),
        (
            Costs(streams={"count words->parse": 1.0}),
            "^streams: unknown stream 'count words->parse'",
        ),
    ],
)
def test_unknown_names(costs: Costs, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        costs.of(parse_and_count())


def test_costs_fill_unknown_numbers(tmp_path: Path) -> None:
    graph = read_costs(tmp_path, TOML).of(parse_and_count()).graph
    assert graph.operators[0] == Operator("parse", 20000.0, 100.0)
    assert graph.memory_bytes.tolist() == [0.0, 1e6]
    assert graph.streams[0] == Stream("parse", "count words", 0.25, 100.0)
    assert (graph.source_rate, graph.name) == (1e4, "job")
    assert graph.lacking == ["instructions of 'count words'"]


def test_named_costs_replace_the_documents_numbers() -> None:
    known = parse_and_count(
        Operator("parse", 1.0, 2.0, 3.0), Stream("parse", "count words", 4.0, 5.0)
    )
    own = CostForm(instructions=10.0, payload_bytes=20.0, memory_bytes=30.0, selectivity=40.0)
    graph = Costs(operators={"parse": own}).of(known).graph
    assert graph.operators[0] == Operator("parse", 10.0, 20.0, 30.0)
    assert graph.streams[0] == Stream("parse", "count words", 40.0, 20.0)


def test_a_note_names_streams_whose_own_selectivity_is_replaced() -> None:
    """One number for all streams of an operator hides that the file has different ones."""
    rows = [Operator(name, 1.0, 1.0) for name in ("a", "b", "c")]
    streams = [Stream("a", "b", UNKNOWN), Stream("a", "c", 0.05), Stream("b", "c", 0.5)]
    known = LogicalGraph(StreamGraph(rows, streams), notes=("one",))
    own = {name: CostForm(selectivity=1.0) for name in "ab"}
    one, note = Costs(operators=own).of(known).notes
    assert one == "one"
    assert "replaces that of 'a->c'; [streams]" in note
    same = Costs(operators={"a": CostForm(selectivity=0.05)})
    apart = Costs(operators=own, streams={"a->c": 0.05})
    assert [list(costs.of(known).notes) for costs in (same, apart)] == [["one"], ["one"]]


def test_defaults_replace_unknown_numbers_only() -> None:
    known = parse_and_count(
        Operator("parse", 1.0, 2.0, 3.0), Stream("parse", "count words", 4.0, 5.0)
    )
    default = CostForm(instructions=9.0, payload_bytes=9.0, memory_bytes=9.0, selectivity=9.0)
    graph = Costs(default=default).of(known).graph
    assert graph.operators[0] == Operator("parse", 1.0, 2.0, 3.0)
    assert graph.operators[1] == Operator("count words", 9.0, 9.0, 9.0)
    assert graph.streams[0] == Stream("parse", "count words", 4.0, 5.0)


def test_source_shares(tmp_path: Path) -> None:
    two = LogicalGraph(StreamGraph([Operator("a", 1, 1), Operator("b", 1, 1)], [], name="two"))
    graph = read_costs(tmp_path, "[source_shares]\na = 0.9\nb = 0.1\n").of(two).graph
    assert graph.source_share.tolist() == [0.9, 0.1]
    assert (
        graph.source_share.tolist() == Costs().of(LogicalGraph(graph)).graph.source_share.tolist()
    )
    with pytest.raises(GraphError, match="sum to 1"):
        Costs(source_shares={"a": 0.5, "b": 0.4}).of(two)
    with pytest.raises(GraphError, match="source_shares"):
        Costs(source_shares={"c": 1.0}).of(two)


def test_empty_costs_change_nothing() -> None:
    known = parse_and_count(None, Stream("parse", "count words", 4.0, 5.0))
    assert Costs().of(known).graph == known.graph


def test_parallel_streams_keep_their_distributions() -> None:
    """A default reorders the streams, and distributions move along."""
    streams = [Stream("parse", "count words", 3.0), Stream("parse", "count words", UNKNOWN)]
    ends = ("parse", "count words")
    two = LogicalGraph(
        parse_and_count(None, *streams).graph,
        {"count words": 2},
        {ends: [Distribution.BROADCAST, Distribution.ALL]},
    )
    costed = Costs(default=DefaultForm(instructions=1, payload_bytes=1, selectivity=1)).of(two)
    assert costed.distributions[ends] == [Distribution.ALL, Distribution.BROADCAST]
    assert sorted(stream.selectivity for stream in to_instances(costed).streams) == [
        0.5,
        0.5,
        3.0,
        3.0,
    ]


def test_resources_in_toml_and_csv(tmp_path: Path) -> None:
    toml = read_costs(
        tmp_path,
        "[default]\nresources = {slot = 1}\n[operators.parse]\nresources = {gpu = 0.5}\n",
    )
    assert toml.of(parse_and_count()).graph.resources == {0: {"gpu": 0.5}, 1: {"slot": 1}}
    kept = toml.of(parse_and_count(Operator("parse", 1.0, 1.0, resources={"tpu": 1})))
    assert kept.graph.resources[0] == {"gpu": 0.5}
    csv = read_costs(
        tmp_path, "operator,resources.gpu,resources.a b\nparse,0.5,\ncount words,,2\n", "c.csv"
    )
    assert csv.of(parse_and_count()).graph.resources == {0: {"gpu": 0.5}, 1: {"a b": 2}}


def test_graphs_keep_their_resources_without_others_in_the_costs(tmp_path: Path) -> None:
    logical = parse_and_count(Operator("parse", 1.0, 1.0, resources={"tpu": 1}))
    costs = read_costs(tmp_path, "[default]\nresources = {slot = 1}\n")
    assert costs.of(logical).graph.resources == {0: {"tpu": 1}, 1: {"slot": 1}}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("costs.toml", "# source_rate = 3\n"),
        ("costs.toml", 'comment = "to do"\n[operators]\n'),
        ("costs.csv", "operator,instructions\n"),
    ],
)
def test_a_file_without_costs_is_refused(name: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(FormatError, match="has no costs; 'streamplace import --help' shows"):
        Costs.read(file)


def test_a_default_parallelism_is_for_numbers_that_the_file_leaves_open() -> None:
    graph = StreamGraph([Operator("a", 1, 1), Operator("b", 1, 1)], [Stream("a", "b")])
    default = Costs(default=DefaultForm(parallelism=4))
    found = default.of(LogicalGraph(graph, {"a": 2}, open_counts=["b"]))
    assert (found.parallelism, [*found.open_counts], [*found.notes]) == ({"a": 2, "b": 4}, [], [])
    (note,) = default.of(LogicalGraph(graph, {"a": 2})).notes
    assert note.startswith("the costs' default parallelism counts for no operator")
