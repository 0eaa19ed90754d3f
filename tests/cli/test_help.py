"""The help of every command, and the examples in it."""

import shlex
from collections.abc import Iterator
from typing import Any

import click
import pytest

from streamplace.cli.registered import ABOUT, GROUP, TAKES, cli
from streamplace.placers.budget import DEFAULT_SECONDS
from streamplace.placers.exact.exact import Exact
from streamplace.placers.registry import taking_start
from streamplace.util.entry_points import ours

PROGRAM = "streamplace"


def members(group: click.Group) -> dict[str, click.Command]:
    """Return the commands of a group by name."""
    context = click.Context(group)
    names = group.list_commands(context)
    found = {name: group.resolve_command(context, [name])[1] for name in names}
    return {name: command for name, command in found.items() if command is not None}


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Yield all commands and their names, including those in groups."""
    for name, command in members(group).items():
        yield " ".join((*path, name)), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


def examples(command: click.Command) -> list[str]:
    """Return the example lines of a command's help, without the remarks after them."""
    context = click.Context(command, max_content_width=100, terminal_width=100, **HELP)
    lines = (line.strip() for line in command.get_help(context).splitlines())
    return [line.partition("   ")[0] for line in lines if line.startswith(f"{PROGRAM} ")]


HELP: dict[str, Any] = {"help_option_names": cli.context_settings["help_option_names"]}
"""Settings of every context: click caches a help option with the names in the first context."""
ALL = {"": cli, **dict(commands(cli))}
EXAMPLES = [line for command in ALL.values() for line in examples(command)]


@pytest.mark.parametrize("name", ALL)
def test_help_has_an_example(name: str) -> None:
    """The example of a group may be one of its commands."""
    lines = examples(ALL[name])
    assert lines
    assert any(line.startswith(f"{PROGRAM} {name}".strip()) for line in lines)


@pytest.mark.parametrize("line", EXAMPLES)
def test_examples_are_valid(line: str) -> None:
    """The arguments of an example are parsed and checked, but the command does not run."""
    words = shlex.split(line)[1:]
    command: click.Command = cli
    context = click.Context(cli, info_name=PROGRAM, **HELP)
    while isinstance(command, click.Group):
        _, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found
        if not isinstance(command, click.Group):
            break
        context = click.Context(command, parent=context, **HELP)
    command.make_context(command.name, list(words), parent=context).close()


@pytest.mark.parametrize("group", [name for name in ALL if isinstance(ALL[name], click.Group)])
def test_first_lines_are_complete(group: str) -> None:
    """In the list of commands, no description is cut off on a terminal of 80 columns."""
    command = ALL[group]
    assert isinstance(command, click.Group)
    context = click.Context(command, info_name=PROGRAM, terminal_width=80, **HELP)
    output = command.get_help(context).partition("Commands:")[2]
    for name, inner in members(command).items():
        first = (inner.help or "").partition("\n")[0]
        assert first.endswith(".")
        assert f"  {name} " in output
        assert first in output
    assert "..." not in output


@pytest.mark.parametrize("name", ALL)
def test_every_option_has_a_description(name: str) -> None:
    options = [param for param in ALL[name].params if isinstance(param, click.Option)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize("name", [name for name in ALL if name])
def test_common_options(name: str) -> None:
    command = ALL[name]
    if not isinstance(command, click.Group):
        names = {option for param in command.params for option in param.opts}
        assert {"--json", "--quiet", "--seed"} <= names


@pytest.mark.parametrize("name", ALL)
def test_help_fits_a_terminal(name: str) -> None:
    """Unwrapped blocks are not wider than the text that click wraps."""
    context = click.Context(ALL[name], max_content_width=100, terminal_width=100, **HELP)
    output = ALL[name].get_help(context)
    assert max(map(len, output.splitlines())) <= 100


def test_the_help_of_place_is_short_and_has_sections() -> None:
    context = click.Context(ALL["place"], info_name="place", terminal_width=80, **HELP)
    lines = context.get_help().splitlines()
    assert len(lines) <= 90
    assert {"Input:", "Goal:", "Search:", "Running job:", "Output:"} <= {*lines}
    assert "100,000 evaluations" not in "".join(lines)  # which the page has


def test_the_help_of_start_names_every_placer_that_starts_from_a_placement() -> None:
    options = {option.name: option for option in ALL["place"].params}
    named = vars(options["start"])["help"].partition("Requires --placer ")[2]
    of_packages = ours("streamplace.placers.about")
    assert all(name in named for name in taking_start() if name not in of_packages)


def test_the_help_ends_with_what_packages_register() -> None:
    for name, about in (
        ("place", "giph   a trained network that improves a start"),
        ("generate", "dream              the branched benchmark"),
    ):
        text = ALL[name].get_help(click.Context(ALL[name], max_content_width=100, **HELP))
        assert about in text.partition("of published systems:")[2]


def test_the_help_of_time_limit_states_the_defaults_of_placers() -> None:
    options = {option.name: option for option in ALL["place"].params}
    stated = f"{DEFAULT_SECONDS:g} for auto, {Exact().seconds:g} for exact"
    assert stated in vars(options["time_limit"])["help"]


def test_lists_of_commands_have_their_first_lines() -> None:
    """The help of a group lists its commands without loading them."""
    about, names = ours(ABOUT), ours(GROUP)
    assert about == {name: (ALL[name].help or "").partition("\n")[0] for name in about}
    groups = {name.partition(" ")[0] for name in names}
    assert about.keys() == names.keys() | groups


def test_arguments_in_messages_are_those_of_commands_that_exist() -> None:
    assert ours(TAKES).keys() <= ours(GROUP).keys()
