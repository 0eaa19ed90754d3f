"""A share of the bad files of every reader through the command line; and what would be noticed."""

from dataclasses import replace

import pytest

from benchmarks.hardening import command_line
from benchmarks.hardening.command_line import faults_of
from benchmarks.hardening.commands import COMMANDS
from benchmarks.hardening.forks import Ended
from benchmarks.hardening.parsers import PARSERS

LIGHT = tuple(name for name, parser in PARSERS.items() if not parser.torch)
REFUSED = Ended("", "streamplace: x.json: is empty\n", 2, False, 0.2, 0.1, 10**8, 1)


def test_a_share_of_every_reader() -> None:
    rows = list(command_line.run(0.01, readers=LIGHT))
    assert len(rows) == len(LIGHT) + 1
    for row in rows:
        assert row.good, (str(row), row.faults)


def test_every_reader_has_its_commands() -> None:
    assert COMMANDS.keys() == PARSERS.keys()


def test_a_refusal_in_one_line_is_fine() -> None:
    assert faults_of(REFUSED, []) == []
    assert faults_of(replace(REFUSED, code=1), ["kept.json"]) == []
    assert faults_of(replace(REFUSED, code=0, out='{"a": 1}', err="note\n" * 3), ["a.json"]) == []


@pytest.mark.parametrize(
    ("changed", "left", "noticed"),
    [
        ({"err": "Traceback (most recent call last):\n"}, [], "tracebacks"),
        ({"code": -11}, [], "tracebacks"),
        ({"code": 3}, [], "tracebacks"),
        ({"err": "x: UserWarning: odd\nstreamplace: x\n"}, [], "tracebacks"),
        ({"err": "streamplace: x\nand more\n"}, [], "unclear messages"),
        ({"err": ""}, [], "unclear messages"),
        ({"err": "x.json: is empty\n"}, [], "unclear messages"),
        ({"cpu_seconds": 1.5}, [], "hangs"),
        ({"hung": True}, [], "hangs"),
        ({"peak_bytes": 4 * 10**8}, [], "over 300 MB"),
        ({}, ["out.json"], "files left"),
        ({"out": "half"}, [], "files left"),
        ({"code": 0, "out": '{"a": NaN}'}, [], "bad output"),
    ],
)
def test_what_is_noticed(changed: dict[str, object], left: list[str], noticed: str) -> None:
    assert faults_of(replace(REFUSED, **changed), left) == [noticed]  # type: ignore[arg-type]  # fields
