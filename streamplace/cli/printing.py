"""Results on stdout, and notes on stderr."""

import json
from typing import Any

import click

from streamplace.execution.progress import is_quiet


def print_json(value: Any) -> None:
    """Print a JSON value on stdout."""
    click.echo(json.dumps(value, indent=1, ensure_ascii=False))


def print_note(text: str) -> None:
    """Print a line on stderr, unless it is empty or --quiet is set."""
    if text and not is_quiet():
        click.echo(text, err=True)
