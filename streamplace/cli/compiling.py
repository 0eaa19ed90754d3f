"""A note on stderr while kernels are compiled."""

import sys
from functools import cache

import click

from streamplace.execution.progress import is_quiet


@cache
def note_compiling() -> None:
    """Say on a terminal, once, that kernels are compiled, and why none came with the package."""
    if not sys.stderr.isatty() or is_quiet():
        return
    from sim.kernels.bundle import reason_for_none  # noqa: PLC0415 - loaded where a kernel is

    reason = reason_for_none() or "one is used for the first time"
    click.echo(f"compiling kernels, which takes up to a minute, once: {reason}", err=True)
