"""Options for the program of a Flink job, as it is started again."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from streamplace.cli import checks

Command = TypeVar("Command", bound=Callable[..., Any])


def program(*, required: bool) -> Callable[[Command], Command]:
    """Return a decorator that adds --jar, --entry-class, --arg, --savepoint-dir, --without-uids.

    Parameters
    ----------
    required
        Whether --jar is required.
    """
    added = (
        click.option(
            "--jar",
            required=required,
            callback=checks.file_name,
            metavar="FILE|ID",
            help="Jar of the job, a file or the id of an uploaded jar. It calls "
            "StreamplaceMapping.apply.",
        ),
        click.option("--entry-class", metavar="CLASS", help="Main class.  [default: the jar's]"),
        click.option(
            "--arg", "arguments", multiple=True, metavar="TEXT", help="An argument; repeatable."
        ),
        click.option(
            "--savepoint-dir", metavar="URL", help="Folder for savepoints.  [default: Flink's]"
        ),
        click.option(
            "--without-uids",
            is_flag=True,
            help="Accept operators without uid if their ids stay the same, as without operator "
            "chaining.",
        ),
    )

    def decorator(command: Command) -> Command:
        for option in reversed(added):
            command = option(command)
        return command

    return decorator
