"""A patch, applied on import: `info` sleeps, `place` computes, and `plan` allocates a gigabyte."""

import time
from typing import Any

import click

from streamplace.cli.main import cli

SLEPT_S, WORKED_S = 1.5, 1.2


def _sleep(*told: Any, **named: Any) -> None:
    time.sleep(SLEPT_S)
    raise click.ClickException("slept")


def _work(*told: Any, **named: Any) -> None:
    began = time.process_time()
    while time.process_time() - began < WORKED_S:
        pass
    raise click.ClickException("worked")


def _take(*told: Any, **named: Any) -> None:
    bytearray(10**9)


cli.commands["info"].callback = _sleep
cli.commands["place"].callback = _work
cli.commands["plan"].callback = _take
