"""The value of the option `--max-latency` of `place` and `size`."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from streamplace.workflows.latency.limit import LatencyLimit

PYTHON_NAME = "max_latency: "


def latency_limit(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> "LatencyLimit | None":
    """Parse QUANTITY=TIME into a limit on latency."""
    if value is None:
        return None
    from streamplace.errors import UsageError  # noqa: PLC0415 - loaded when the option is used
    from streamplace.workflows.latency.limit import LatencyLimit  # noqa: PLC0415

    try:
        return LatencyLimit.parse(value)
    except UsageError as error:
        raise click.BadParameter(str(error).removeprefix(PYTHON_NAME), ctx, param) from None
