"""Options of commands that write results, tables and plots into a folder."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from streamplace.cli import checks, param_types
from streamplace.plots.formats import KINDS

NONE = "none"
Command = TypeVar("Command", bound=Callable[..., Any])


def folder_and_plots(text: str, *, required: bool = False) -> Callable[[Command], Command]:
    """Return a decorator that adds -o, whose help is `text`, and --plots."""

    def decorator(command: Command) -> Command:
        folder = click.option(
            "-o",
            "folder",
            callback=checks.file_name,
            type=param_types.FILE,
            required=required,
            metavar="DIR",
            help=text,
        )
        plots = click.option(
            "--plots",
            type=param_types.Choice((*KINDS, NONE)),
            help="File format of the plots in DIR.  [default: png]",
        )
        return folder(plots(command))

    return decorator


def pictures_of(plots: str | None) -> str | None:
    """Return the format of the plots that --plots asks for; None: no plots."""
    return None if plots == NONE else plots or KINDS[0]
