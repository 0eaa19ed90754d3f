"""Headers of tables: the words and units that a user may write."""

import pytest

from streamplace.errors import GraphError
from streamplace.formats.columns import columns_of


@pytest.mark.parametrize(
    ("header", "cell", "field", "number"),
    [
        ("cpu_ms", "2", "instructions", 2e-3),
        ("CPU time (µs)", "2", "instructions", 2e-6),
        ("time [ms] per tuple", "0.1", "instructions", 1e-4),
        ("CPU time per event (ms)", "2", "instructions", 2e-3),
        ("cpu", "2ms", "instructions", 2e-3),
        ("cpu_ms", "2us", "instructions", 2e-6),
        ("cpu_ms_se", "2", "instructions_se", 2e-3),
        ("Service Time, s", "2e-3", "instructions", 2e-3),
        ("instructions", "50k", "instructions", 50_000),
        ("instructions_k", "2", "instructions", 2000),
        ("payload_bytes", "1.5kB", "payload_bytes", 1500),
        ("payload_kb", "1.1", "payload_bytes", 1100),
        ("Payload (KiB)", "1", "payload_bytes", 1024),
        ("payload_bytes_per_tuple", "7", "payload_bytes", 7),
        ("payload_bytes_se", "7", "payload_bytes_se", 7),
        ("tuple size", "7 kB", "payload_bytes", 7000),
        ("memory_bytes", "2GiB", "memory_bytes", 2**31),
        ("memory_mb", "2", "memory_bytes", 2e6),
        ("Selectivity", ".5", "selectivity", 0.5),
        ("Replicas", "3", "parallelism", 3),
        ("rate", "5k", "source_rate", 5000),
        ("source_rate_per_s", "5", "source_rate", 5),
        ("Input rate (tuples/s)", "5", "source_rate", 5),
        ("Rate (k/s)", "5", "source_rate", 5000),
        ("mips", "2GIPS", "mips", 2000),
        ("resources.GPU time", "2", "resources.GPU time", 2),
    ],
)
def test_words_and_units(header: str, cell: str, field: str, number: float) -> None:
    (column,) = columns_of([header])
    assert column.field == field
    assert column.number(cell) == pytest.approx(number, rel=1e-15)


@pytest.mark.parametrize(
    ("header", "what"),
    [("Operator", "operator"), ("Name", "operator"), ("source", "from"), ("Outputs", "to")],
)
def test_words_for_names(header: str, what: str) -> None:
    assert columns_of([header])[0].what == what


@pytest.mark.parametrize(
    ("header", "cell", "expected"),
    [
        ("cpu", "5", "needs a unit, in the cell or the header, such as 200ms"),
        ("payload", "5", "needs a unit, in the cell or the header, such as 8GB"),
        ("memory", "5 parsecs", "needs a unit, in the cell or the header, such as 8GB"),
        ("cpu_ms", "5kB", "expected a number, or one with a unit, such as 200ms"),
        ("cpu_ms", "1e99999999", "expected a number, or one with a unit, such as 200ms"),
        ("instructions", "nan", "expected a number, or one with a unit, such as 50k"),
        ("selectivity", "1_0", "must be a number"),
        ("parallelism", "2k", "must be a number"),
    ],
)
def test_cells_that_are_no_numbers(header: str, cell: str, expected: str) -> None:
    (column,) = columns_of([header])
    assert column.number(cell) is None
    assert column.expected.startswith(expected)


@pytest.mark.parametrize(
    ("header", "fault"),
    [
        (["colour"], "unknown column 'colour'; choose from operator, from, to, instructions, cpu,"),
        (["source_rate_se"], "unknown column 'source_rate_se'"),
        (["resources."], "unknown column 'resources.'"),
        (["resource.gpu"], "unknown column 'resource.gpu'"),
        (["rate", "rate"], "column 'rate' appears twice"),
        (["operator", "name"], "columns 'operator' and 'name' are both operator; leave out one"),
        (["cpu_ms", "instructions"], "columns 'cpu_ms' and 'instructions' are both instructions;"),
        (["cpu_percent"], "column 'cpu_percent': unknown unit 'percent'; write numbers as in 200"),
        (["payload_kbit"], "column 'payload_kbit': unknown unit 'kbit'; write numbers as in 8GB"),
        (["selectivity_ms"], "column 'selectivity_ms': unknown unit 'ms'; selectivity has none"),
    ],
)
def test_bad_headers(header: list[str], fault: str) -> None:
    with pytest.raises(GraphError) as caught:
        columns_of(header)
    assert str(caught.value).startswith(fault)
