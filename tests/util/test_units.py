"""Numbers with units in text."""

import pytest

from streamplace.errors import UsageError
from streamplace.util.units import kind_at, kind_of, parsed


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


def test_values_by_name_have_the_unit_of_their_field() -> None:
    assert kind_at(("operators", 0, "seconds_on", "of_bytes")) == "s"
    assert kind_at(("source_rates", "ms")) == "rate"
    assert kind_at(("resources", "gpu")) is None


def test_fields_without_a_unit_have_no_kind() -> None:
    assert [kind_of(name) for name in ("price", "cores", "overhead_s_per_byte", "name")] == [
        None
    ] * 4
