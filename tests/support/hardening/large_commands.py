"""A patch, applied on import, that makes `plan` allocate a gigabyte."""

from typing import Any

from streamplace.cli.main import cli


def _allocate(*values: Any, **named: Any) -> None:
    bytearray(10**9)


cli.commands["plan"].callback = _allocate
