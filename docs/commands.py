"""Puts what `--help` says of every command into the page of the command line."""

from collections.abc import Iterator
from typing import Any

import click

from streamplace.cli.main import cli

WIDTH = 88
MARK = "<!-- commands -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill the page that has the mark; called by mkdocs."""
    return (
        markdown.replace(MARK, "\n".join(sections(cli, "streamplace")))
        if MARK in markdown
        else markdown
    )


def sections(
    command: click.Command, name: str, parent: click.Context | None = None
) -> Iterator[str]:
    """Yield a section for a command and for each of its own."""
    context = click.Context(command, parent, name, max_content_width=WIDTH, terminal_width=WIDTH)
    path = context.command_path
    yield f"## {path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield from sections(found, inner, context)
