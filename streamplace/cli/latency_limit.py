"""The option `--max-latency` of `place` and `size`."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from streamplace.workflows.latency.limit import LatencyLimit

PYTHON_NAME = "max_latency: "


def the_limit(text: str | None) -> "LatencyLimit | None":
    """Return the limit of --max-latency, whose name begins the message about other text."""
    if text is None:
        return None
    from streamplace.errors import UsageError  # noqa: PLC0415 - loaded when the option is used
    from streamplace.workflows.latency.limit import LatencyLimit  # noqa: PLC0415

    try:
        return LatencyLimit.parse(text)
    except UsageError as error:
        raise click.UsageError(f"--max-latency: {str(error).removeprefix(PYTHON_NAME)}") from None
