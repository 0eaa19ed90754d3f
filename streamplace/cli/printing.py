"""Results on stdout, notes on stderr, and the exit code of a limit that is not proven."""

from typing import TYPE_CHECKING, Any

import click

from streamplace.execution.progress import is_quiet
from streamplace.files.json_text import to_json

if TYPE_CHECKING:
    from streamplace.workflows.latency.answer import LatencyAnswer

UNPROVEN = 3
"""Exit code of a command whose result is written, but may exceed the limit on latency."""


def print_json(value: Any) -> None:
    """Print a JSON value on stdout."""
    click.echo(to_json(value), nl=False)


def print_note(text: str) -> None:
    """Print a line on stderr, unless it is empty or --quiet is set."""
    if text and not is_quiet():
        click.echo(text, err=True)


def end_if_unproven(latency: "LatencyAnswer | None") -> None:
    """End the command with exit code `UNPROVEN` and a note if a limit on latency is not proven.

    Everything else must have been written before.
    """
    if latency is not None and latency.answer == "unproven":
        print_note(f"latency limit {latency.limit}: unproven (exit code {UNPROVEN})")
        raise SystemExit(UNPROVEN)
