"""Jobs in one table, as spreadsheets save them."""

from math import isnan
from pathlib import Path

import pytest

from streamplace.formats.recognition import kind_of_text
from tests.corpus.engine_documents.interchange import TABLE, TABLE_OF_STREAMS
from tests.support.cli import Capture, printed, refused, succeeds
from tests.support.documents import edges, read_document, refused_document


def test_a_row_per_operator() -> None:
    job = read_document("csv", TABLE)
    graph = job.graph
    assert edges(job) == [("clicks", "parse"), ("parse", "count"), ("parse", "log")]
    of = dict(zip(graph.names, graph.operators, strict=True))
    assert of["parse"].instructions == 125_000
    assert of["parse"].payload_bytes == 600
    assert of["count"].instructions == 500_000
    assert of["log"].instructions == 5000
    assert graph.source_rate == 2000
    assert job.parallelism == {"count": 4}
    selectivity = {(s.source, s.target): s.selectivity for s in graph.streams}
    assert selectivity["parse", "count"] == selectivity["parse", "log"] == 0.5
    assert isnan(selectivity["clicks", "parse"])


def test_a_row_per_stream() -> None:
    job = read_document("csv", TABLE_OF_STREAMS)
    assert edges(job) == [("clicks", "parse"), ("parse", "count"), ("parse", "log")]
    numbers = {s.target: (s.selectivity, s.payload_bytes) for s in job.graph.streams}
    assert numbers["parse"] == (1, 500)
    assert numbers["count"] == (0.5, 250)
    assert numbers["log"][0] == 0.01
    assert isnan(job.graph.instructions[0])


@pytest.mark.parametrize(
    "text", ["name,to\na,b;c\nb,d\nc,d\nd,\n", 'name,from\na,\nb,a\nc,a\nd,"b, c"\n']
)
def test_operators_before_or_after(text: str) -> None:
    found = edges(read_document("csv", text))
    assert found == [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]


def test_a_stream_that_both_of_its_operators_name_is_one() -> None:
    assert edges(read_document("csv", "name,from,to\na,,b\nb,a,\n")) == [("a", "b")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,cpu_ms\na,1\n", "has no streams; columns 'from' and 'to' name the operators"),
        ("name,cpu_ms,to\na,1,b\nb,5 kB,\n", "line 3: cpu_ms: expected a number, or one with a"),
        ("name,to,cpu_ms\na,b\n", "line 2: expected 3 columns (got 2)"),
        ("name,to,cpu_ms\na,b,-1\n", "line 2: cpu_ms: must be at least 0 (got '-1')"),
        (
            "name,to\nread,parse\nparse,cuont\ncount,\n",
            "no row is about operator 'cuont', which 'from' or 'to' names; did you mean 'count'?",
        ),
        (
            "name,to\na,b|c\nb,\nc,\n",
            "no row is about operator 'b|c', which 'from' or 'to' names; semicolons separate",
        ),
        ("nmae,to\na,b\n", "line 1: unknown column 'nmae'; did you mean 'name'?"),
        ("name,to,colour\na,b,red\n", "line 1: unknown column 'colour'; choose from operator"),
        (
            "name;cpu\na;0,5\n",
            "line 1: columns are separated by semicolons; separate them by commas, "
            "and write decimals with points",
        ),
    ],
)
def test_invalid_tables(text: str, message: str) -> None:
    assert refused_document("csv", text).startswith(message)


@pytest.mark.parametrize(
    "text",
    ["operator,device\na,d0\n", "name,cpu_ms\na,1\n", "from,me\n", "from"],
)
def test_other_tables_are_not_taken_for_jobs(text: str) -> None:
    assert kind_of_text("x.csv", text) is None


def test_a_table_is_imported_and_placed(tmp_path: Path, capsys: Capture) -> None:
    file, graph = tmp_path / "job.csv", tmp_path / "job.json"
    file.write_text(TABLE.replace("clicks,10,", "clicks,10us,"))
    line = refused(capsys, "place", file)
    assert line.endswith(f"streamplace import {file} --from csv -o job-graph.json")
    words = ("import", file, "--from", "csv", "--costs", tmp_path / "rest.csv", "-o", graph)
    (tmp_path / "rest.csv").write_text("from,to,selectivity\nclicks,parse,1\n")
    assert "note: CPU (us) is the time on a core of 2500 MIPS" in printed(capsys, *words)[1]
    succeeds(capsys, "place", graph, "--devices", "2x2500")


def test_a_bad_table_is_refused_in_one_line(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "job.csv"
    file.write_text("name,to,cpu_ms\n" + "".join(f"o{i},o{i + 1},{i} h/s\n" for i in range(22)))
    line = refused(capsys, "import", file, "--from", "csv")
    assert line.startswith(
        f"streamplace: {file}: line 2: cpu_ms and 21 more: expected a number, or"
    )
