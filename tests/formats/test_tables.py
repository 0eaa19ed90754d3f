"""Tables of operators and streams, and the faults of their rows."""

import pytest

from streamplace.errors import GraphError
from streamplace.formats.tables import table_of


def test_rows_of_operators_and_of_streams() -> None:
    text = 'name,from,to,cpu_us,selectivity\nparse,,"a, b",3,1\n,parse,c d,,0.25\n,,,,\n\n'
    table = table_of(text)
    assert table.operators == {"parse": {"instructions": 7500, "selectivity": 1}}
    own = {("parse", "c d"): {"selectivity": 0.25}}
    assert table.streams == {("parse", "a"): {}, ("parse", "b"): {}} | own


def test_a_stream_of_an_operator_may_have_a_row() -> None:
    table = table_of("name,from,to,selectivity\nparse,,count,\n,parse,count,0.25\n")
    assert table.streams == {("parse", "count"): {"selectivity": 0.25}}


def test_times_are_instructions_at_the_stated_or_the_default_speed() -> None:
    table = table_of("name,cpu_us\nparse,3\n")
    assert table.operators == {"parse": {"instructions": 7500}}
    assert table.notes[0].startswith("cpu_us is the time on a core of 2500 MIPS, as in --devices")
    table = table_of("name,cpu_us,mips,cpu_us_se\nparse,3,1000,1\nsplit,3,,0\n")
    assert table.operators["parse"] == {"instructions": 3000, "instructions_se": 1000}
    assert table.operators["split"] == {"instructions": 7500, "instructions_se": 0}
    assert table.notes[0].startswith("cpu_us is the time on a core of 2500 MIPS, as in --devices")
    assert table_of("name,cpu_us,mips\nparse,3,1000\n").notes == []


def test_columns_without_a_header_are_empty() -> None:
    assert table_of("name,rate,,\na,5,,\n").rates == {"a": 5}


def test_all_faults_are_listed() -> None:
    text = "operator,instructions,selectivity\nparse,fast,much\ncount,1\nstore,50kB,1\n"
    with pytest.raises(GraphError) as caught:
        table_of(text)
    faults = str(caught.value).split("; ")
    assert [fault.partition(" (got")[0].partition(", or")[0] for fault in faults] == [
        "line 2: instructions: expected a number",
        "line 2: selectivity: must be a number",
        "line 3: expected 3 columns",
        "line 4: instructions: expected a number",
    ]


def test_many_faults_of_a_kind_are_one_phrase() -> None:
    rows = "".join(f"o{i},{i} parsecs,{i}\n" for i in range(22))
    with pytest.raises(GraphError) as caught:
        table_of(f"name,cpu,payload_kb\n{rows}")
    phrase = "line 2: cpu and 21 more: needs a unit, in the cell or the header, such as 200ms"
    assert str(caught.value).startswith(phrase)
    assert str(caught.value).endswith("(got '0 parsecs')")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("instructions\n3\n", "line 1: the header needs a column 'operator', or columns 'from'"),
        ("name,to,mips\n", "line 1: column 'mips' needs one of times, such as cpu_ms"),
        ("name;cpu_ms\nparse;5\n", "line 1: columns are separated by semicolons; separate"),
        ("operator\tinstructions\n", "line 1: columns are separated by tabs; separate them by"),
        ("step|ms\nparse|5\n", "line 1: columns are separated by vertical bars; separate them"),
        ("operator,instructions\nparse\n", "line 2: expected 2 columns (got 1)"),
        ("operator,instructions\n,1\n", "line 2: needs the name of an operator, or both ends of"),
        ("name,cpu_ms,mips\na,1,0\n", "line 2: mips: must be above 0 (got '0')"),
        ("operator,rate\na,1\na,2\n", "line 3: operator 'a' appears twice"),
        ('operator,rate\na,1\n"b,2\nc,3\n', "line 3: not CSV: unexpected end of data"),
        ("operator,rate\na,-1\n", "line 2: rate: must be at least 0 (got '-1')"),
        ("name,rate,\na,1,much\n", "line 2: a cell has no header (got 'much')"),
        ("from,to,cpu_ms\na,b,5\n", "line 2: cpu_ms is of operators, and the row is of a stream"),
        ("from,to,selectivity\na,b,1\na,b,2\n", "line 3: stream 'a' -> 'b' appears twice"),
        ("from,to,selectivity\na,,1\n", "line 2: needs the name of an operator, or both ends of"),
    ],
)
def test_bad_tables(text: str, fault: str) -> None:
    with pytest.raises(GraphError) as caught:
        table_of(text)
    assert str(caught.value).startswith(fault)
