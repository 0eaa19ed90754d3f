"""Units on the command line: numbers that have one, and notes on those that are probably wrong."""

import json
from pathlib import Path

import pytest

from tests.support.cli import Capture, json_of, printed, refused

ASSUMED = "no cluster: 5 devices of 2500 MIPS (5x2500) assumed; --cluster FILE sets others\n"


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """Return a chain of two operators, whose file has units."""
    operators = [
        {"name": "a", "instructions": "50k", "payload_bytes": "1kB"},
        {"name": "b", "instructions": 100_000.0},
    ]
    document = {"operators": operators, "streams": [{"source": "a", "target": "b"}]}
    path = tmp_path / "graph.json"
    path.write_text(json.dumps({**document, "source_rate": "10k"}))
    return path


@pytest.mark.parametrize(
    "command",
    [
        ["place", "GRAPH", "--placer", "greedy"],
        ["compare", "GRAPH", "--placers", "greedy"],
        ["size", "GRAPH"],
    ],
    ids=lambda words: words[0],
)
def test_a_note_names_the_default_cluster(command: list[str], graph: Path, capsys: Capture) -> None:
    words = [graph if word == "GRAPH" else word for word in command]
    assert ASSUMED in printed(capsys, *words)[1]
    assert ASSUMED not in printed(capsys, *words, "--devices", "5x2500")[1]


def test_options_have_units(graph: Path, capsys: Capture) -> None:
    options = ["--placer", "auto", "--devices", "2x2500"]
    found = json_of(
        capsys, "place", graph, *options, "--source-rate", "20k", "--time-limit", "200ms"
    )
    assert found["throughput"] == 20_000.0
    assert "auto:seconds=0.2" in found["placer"]
    compared = ("compare", graph, "--placers", "auto", "--time-limit", "100ms,200ms")
    rows = json_of(capsys, *compared, "--devices", "2x2500")["rows"]
    assert [row["placer"] for row in rows] == ["auto:seconds=0.1", "auto:seconds=0.2"]
    error = refused(capsys, "place", graph, *options, "--time-limit", "200m")
    assert "expected a number, or one with a unit, such as 200ms or 5min" in error


def test_a_note_names_rates_that_may_be_one(graph: Path, capsys: Capture) -> None:
    words = ("place", graph, "--placer", "greedy", "--source-rate")
    note = "--source-rate 10,500 stands for the rates 10 and 500; for one rate, write 10500"
    assert note in printed(capsys, *words, "10,500")[1]
    assert not printed(capsys, *words, "10,500", "--quiet")[1]
    assert "for one rate" not in printed(capsys, *words, "5000,20000")[1]


def test_free_numbers_are_named_with_their_file(graph: Path, capsys: Capture) -> None:
    graph.write_text(
        graph.read_text().replace(
            '"instructions": "50k"', '"parallelism": "free", "instructions": 5'
        )
    )
    line = refused(capsys, "place", graph)
    assert f"{graph}: operators: parallelism of 'a' is free; run `streamplace size`" in line


@pytest.fixture
def joined(tmp_path: Path) -> Path:
    """Return two sources, of 1 and 3 ms on a device of 1,000 MIPS, that one operator joins."""
    work = {"a": 1e6, "b": 3e6, "c": 0.0}
    document = {
        "operators": [{"name": n, "instructions": i, "payload_bytes": 0} for n, i in work.items()],
        "streams": [{"source": "a", "target": "c"}, {"source": "b", "target": "c"}],
    }
    path = tmp_path / "joined.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    "rates",
    [["--source-rate", "a=0.2k", "--source-rate", "b=100"], ["--source-rate", "b=100,a=200/s"]],
)
def test_rates_of_single_sources(rates: list[str], joined: Path, capsys: Capture) -> None:
    """Every command that reads one graph takes them; they count as those of the graph do."""
    devices, placement = ("--devices", "1x1000"), joined.with_name("placement.json")
    placed = json_of(capsys, "place", joined, *devices, *rates, "-o", placement)
    assert placed["devices"][0]["utilisation"] == pytest.approx(0.5)
    graph = json.loads(placement.read_text())["problem"]["graph"]
    assert (graph["source_rate"], graph["source_shares"]["a"]) == (300, pytest.approx(2 / 3))
    sized = json_of(capsys, "size", joined, *devices, *rates)
    assert sized["throughput"] == 300
    other = ("--source-rate", "a=100", "--source-rate", "b=0")
    for files in ([placement], [joined, placement]):
        scored = json_of(capsys, "simulate", *files, *other)
        assert (scored["throughput"], scored["devices"][0]["utilisation"]) == (100, 0.1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a=1"], "--source-rate: source_rates: must name exactly the operators without inputs; "),
        (["a=1", "b=1", "c=1"], "without inputs; not one of them: 'c'"),
        (["a=1", "a=2"], "--source-rate: names 'a' twice"),
        (["a=1", "2"], "--source-rate: must be SOURCE=RATE, such as orders=8k (got '2')"),
        (["1", "2"], "--source-rate: is given twice; only SOURCE=RATE is repeatable"),
        (["a=1,b=-2"], "source_rates['b']: must be finite and at least 0 (got -2.0)"),
        (["a=1,b=2Gbit"], "--source-rate: expected a number, or one with a unit, such as 10k"),
    ],
)
def test_bad_rates_of_single_sources(
    words: list[str], message: str, joined: Path, capsys: Capture
) -> None:
    rates = [word for text in words for word in ("--source-rate", text)]
    assert message in refused(capsys, "place", joined, *rates)


def test_comparisons_take_rates_of_all_sources(joined: Path, capsys: Capture) -> None:
    error = refused(capsys, "compare", joined, "--source-rate", "a=1,b=2")
    assert "each graph of the dataset may state its own source_rates" in error


def test_a_time_is_no_number_of_instructions(graph: Path, capsys: Capture) -> None:
    graph.write_text(graph.read_text().replace("50k", "0.02ms"))
    remedy = "for a time its microseconds times MIPS (got '0.02ms')"
    assert remedy in refused(capsys, "place", graph)


def test_commands_name_a_suspect_unit(graph: Path, capsys: Capture) -> None:
    """Speeds of devices in instructions/s instead of millions of them."""
    placement = graph.with_name("placement.json")
    options = ["--devices", "2x2500000000", "--placer", "greedy", "-o", placement]
    named = "mips: the values are about 2.5e+09; are they in instructions/s, not million"
    assert named in printed(capsys, "place", graph, *options)[1]
    for words in (
        ["simulate", graph, placement],
        ["explain", placement],
        ["size", graph, *options[:2]],
        ["size", graph, *options[:2], "--at", "5k,10k"],
        ["plan", graph, *options[:2]],
    ):
        assert named in printed(capsys, *words)[1], words
    assert named not in printed(capsys, "place", graph, "--placer", "greedy")[1]
