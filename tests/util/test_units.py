"""Numbers with units in text."""

import re
from pathlib import Path

import pytest

from streamplace.errors import UsageError
from streamplace.util.units import EXAMPLES, UNITS, kind_at, kind_of, parsed

FIELDS = {
    "bytes": "payload_bytes",
    "mbps": "bandwidth_mbps",
    "s": "latency_s",
    "mips": "mips",
    "instructions": "instructions",
    "rate": "source_rate",
}


@pytest.mark.parametrize(
    ("text", "field", "number"),
    [
        ("8GB", "memory_bytes", 8e9),
        ("512 MiB", "memory_bytes", 512 * 2**20),
        ("2Gi", "memory_bytes", 2**31),
        ("1.5k", "payload_bytes", 1500.0),
        ("1Gbit/s", "bandwidth_mbps", 1000.0),
        ("100MB/s", "bandwidth_mbps", 800.0),
        ("2.5Gbps", "up_mbps", 2500.0),
        ("200ms", "latency_s", 0.2),
        ("3 us", "overhead_s", 3e-6),
        ("1.5h", "startup_s", 5400.0),
        ("10k", "source_rate", 10_000.0),
        ("2M/s", "source_rate", 2e6),
        ("50k", "instructions", 50_000.0),
        ("3.2GIPS", "mips", 3200.0),
        ("1e3", "mips", 1000.0),
        ("0.5KB", "payload_bytes", 500.0),
        ("2PB", "memory_bytes", 2e15),
        ("1PiB", "memory_bytes", 2.0**50),
        ("0.02ms", "overhead_s", 2e-5),
        ("5\N{MICRO SIGN}s", "overhead_s", 5e-6),
        ("5\N{GREEK SMALL LETTER MU}s", "overhead_s", 5e-6),
        ("3K", "source_rate", 3000.0),
    ],
)
def test_units_are_those_of_the_field(text: str, field: str, number: float) -> None:
    kind = kind_of(field)
    assert kind is not None
    assert parsed(text, kind) == number


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *[("8 GBit", "bytes"), ("200m", "s"), ("1M", "s"), ("1 Mb", "mbps")],
        *[("GB", "bytes"), ("1e999GB", "bytes"), ("8GB2", "bytes"), ("1_000", "rate")],
    ],
)
def test_ambiguous_units_are_refused_with_an_example(text: str, kind: str) -> None:
    with pytest.raises(UsageError, match=r"such as|must be finite"):
        parsed(text, kind)


@pytest.mark.parametrize("kind", UNITS)
def test_messages_and_the_page_list_units_that_are_read(kind: str) -> None:
    page = Path("docs/own-graph.md").read_text("utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| `{FIELDS[kind]}`"))
    shown = re.findall(r"`([^`]+)`", row.partition("` |")[2])
    assert {*shown} == {*UNITS[kind]}
    listed = re.search(r"\((.*)\)", EXAMPLES[kind])
    assert listed is not None
    assert {*re.findall(r"[\w/]+", listed[1])} - {"each", "with", "or", "without", "bytes"} <= {
        *UNITS[kind],
        "/s",
    }


def test_values_by_name_have_the_unit_of_their_field() -> None:
    assert kind_at(("operators", 0, "seconds_on", "of_bytes")) == "s"
    assert kind_at(("source_rates", "ms")) == "rate"
    assert kind_at(("resources", "gpu")) is None


def test_fields_without_a_unit_have_no_kind() -> None:
    assert kind_at(["stage", 0, "optimiser", "rate"]) is None
    assert [kind_of(name) for name in ("price", "cores", "overhead_s_per_byte", "name")] == [
        None
    ] * 4


@pytest.mark.parametrize(
    ("text", "kind", "meant"),
    [
        ("10,000", "rate", "10000"),
        ("1,000,000.5k/s", "rate", "1000000.5k/s"),
        ("-1,5 ms", "s", "-1.5 ms"),
        ("1.000,5", "rate", ""),
        ("1,0000 kB", "bytes", "1.0000 kB"),
        ("1,000 apples", "bytes", ""),
    ],
)
def test_numbers_with_commas_are_named_as_they_are_read(text: str, kind: str, meant: str) -> None:
    end = f"(got {text!r})" + (f"; did you mean {meant}?" if meant else "")
    with pytest.raises(UsageError, match=f"{re.escape(end)}$"):
        parsed(text, kind)
