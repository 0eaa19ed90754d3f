"""Generator of docs/cli.md, the help texts of all commands.

    python -m docs.cli_page      # updates the page

`tests/docs` compares the page with the commands.
"""

from collections.abc import Iterator
from pathlib import Path

import click

from streamplace.cli.main import cli

PAGE = Path(__file__).parent / "cli.md"
WIDTH = 88
INTRODUCTION = """\
# Command line

This page has the `--help` text of every command. Every command (for `profile` and `apply`, each
subcommand) also takes these options:

- `--json` prints the result as JSON on stdout;
- `--quiet` prints nothing on stderr except errors;
- `--seed` sets the seed of all random choices.

Other conventions:

- `-` stands for stdin or stdout wherever a command takes a file.
- GRAPH and DATASET may be streamplace JSON, `.jsonl[.gz]`, a folder, `.npz`, a file of the
  published DREAM benchmark, or an example that comes with streamplace, such as
  `dataset:real/riotbench-etl.json`.
- Exit codes: 0 success, 1 the work failed, 2 bad input, 130 interrupted. Bad input is reported in
  one line that names the file, the place in the file and the fault, and no output file is left
  half-written.
- The environment variable NO_COLOR turns colours off. Tables fit the terminal; in pipes and files
  they are never cut.
- After a mistyped name, the message suggests the nearest existing one.
"""


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join([INTRODUCTION, *_sections(cli, "streamplace")])


def _sections(
    command: click.Command, name: str, parent: click.Context | None = None
) -> Iterator[str]:
    """Yield one section for a command and one for each of its subcommands."""
    context = click.Context(
        command, parent, name, terminal_width=WIDTH, max_content_width=WIDTH,
        help_option_names=cli.context_settings["help_option_names"],
    )  # fmt: skip
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            subcommand = command.get_command(context, inner)
            assert subcommand is not None
            yield from _sections(subcommand, inner, context)


if __name__ == "__main__":
    PAGE.write_text(page())
