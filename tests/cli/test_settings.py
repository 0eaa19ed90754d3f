"""Options that are made of settings."""

from dataclasses import dataclass
from typing import Any

import click
import pytest
from click.testing import CliRunner

from streamplace.cli.command import command, made_of
from streamplace.cli.settings import option_name, options_of
from streamplace.errors import Fault, UsageError
from streamplace.util.settings import COUNT, SHARE, CheckedSettings, Range, Text, setting


def upper(text: str) -> str:
    if text.startswith("?"):
        raise UsageError(Fault("must begin otherwise", option="to"))
    return text.upper()


@dataclass(frozen=True, kw_only=True)
class Trip(CheckedSettings):
    """The settings of a trip."""

    stops: int = setting(COUNT, 2, "Stops on the way.")
    wait_s: float | None = setting(
        Range(symbol="S"), None, "Time at each of `stops`.", unset="none, as with ``0``"
    )
    load: float = setting(SHARE, 0.5, "Share of the seats.")
    by_train: bool = setting(bool, False, "Take the train.")
    to: str | None = setting(Text(upper, "CITY"), None, "Where to.")
    seconds: float | None = setting(Range(symbol="S"), None, "Limit.")
    note: str | None = setting(None, None, "Anything.")


CHOSEN = ("to", "stops", "wait_s", "load", "by_train", "seconds")


@dataclass(frozen=True)
class TripOptions:
    """The options of a command."""

    settings: dict[str, Any] = made_of(  # noqa: RUF009 - as options of commands
        options_of(Trip, *CHOSEN, names={"seconds": "time-limit"}, added={"to": "Not by air."}),
        dict,
    )


@command(TripOptions)
def travel(chosen: TripOptions) -> None:
    """Travel."""
    click.echo(repr(chosen.settings))


def run(*words: str) -> str:
    return CliRunner().invoke(travel, words, terminal_width=100).output


def test_help_is_made_of_the_declarations() -> None:
    lines = [" ".join(line.split()) for line in run("--help").splitlines()]
    assert lines[5:11] == [
        "--to CITY Where to. Not by air.",
        "--stops N Stops on the way. [default: 2]",
        "--wait S Time at each of --stops. [default: none, as with 0]",
        "--load U Share of the seats. [default: 0.5]",
        "--by-train Take the train.",
        "--time-limit S Limit.",
    ]


def test_values_are_those_of_the_settings() -> None:
    words = ("--to", "rome", "--wait", "2min", "--by-train", "--load", ".25")
    assert run(*words).strip() == str(
        {"to": "rome", "stops": 2, "wait_s": 120.0, "load": 0.25, "by_train": True, "seconds": None}
    )


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("--stops", "0"), "'--stops': must be at least 1 (got 0)"),
        (("--stops", "two"), "'--stops': must be a whole number (got 'two')"),
        (("--load", "80"), "'--load': must be above 0 and at most 1 (got 80); did you mean 0.8?"),
        (("--time-limit", "-1"), "'--time-limit': must be finite and at least 0 (got -1)"),
        (("--to", "?"), "'--to': must begin otherwise"),
    ],
)
def test_a_fault_names_the_option(words: tuple[str, ...], fault: str) -> None:
    assert run(*words).endswith(f"Invalid value for {fault}\n")


def test_names_of_options() -> None:
    assert option_name("cool_down_s", {}) == "--cool-down"
    assert option_name("answer_s", {"answer_s": "timeout"}) == "--timeout"
