"""Arithmetic in flowgraphs, computed without Python's eval."""

import pytest

from streamplace.integrations.gnuradio.flowgraph import Variables

VARIABLES = {
    "samp_rate": "2.4e6",
    "decim": "int(samp_rate / 100e3)",
    "loop": "loop + 1",
    "ping": "pong",
    "pong": "ping",
    "taps": "firdes.low_pass(1, samp_rate, 1e3, 1e2)",
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", 4.0),
        (" 44.1e3 ", 44100.0),
        ("samp_rate", 2.4e6),
        ("decim", 24.0),
        ("-decim // 7 + 2 ** 3", 4.0),
        ("round(samp_rate / 7) % 10", 7.0),
        ("float(1)", 1.0),
    ],
)
def test_plain_arithmetic(text: str, value: float) -> None:
    assert Variables(VARIABLES).number(text) == value


def test_chains_of_variables_have_no_limit() -> None:
    """In whatever order their variables are asked for."""
    chain = {f"v{i}": f"v{i + 1}" for i in range(5000)} | {"v5000": "7"}
    found = Variables(chain)
    assert [found.number(name) for name in ("v0", "v4960", "v4990")] == [7.0] * 3


def test_what_refers_to_a_cycle_is_unknown_and_all_else_known() -> None:
    found = Variables({**VARIABLES, "behind": "ping + 1", "int": "3"})
    assert found.number("behind") is None
    assert found.number("decim + int") == 27.0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "loop",
        "ping",
        "taps",
        "unknown",
        "len(taps)",
        "samp_rate.real",
        "__import__('os').getpid()",
        "[4][0]",
        "True",
        "'4'",
        "1j",
        "1 / 0",
        "(-8) ** 0.5",
        "9 ** 9 ** 9 ** 9",
        "1e400",
        "4 if 1 else 5",
        "0x",
        "1if 1else 2",
        "(" * 150,
        "-" * 200 + "1",
        "1" * 201 + " + 1",
        "a\0b",
    ],
)
def test_all_else_is_unknown(text: str) -> None:
    assert Variables(VARIABLES).number(text) is None
