"""A command that says how unevenly a placement loads its devices."""

from dataclasses import dataclass

import click

from streamplace import read_placement, simulate
from streamplace.cli.command import argument, command, print_json
from streamplace.cli.options import Common
from streamplace.cli.param_types import FILE


@dataclass(frozen=True)
class SpreadOptions(Common):
    """The options of `spread`."""

    placement: str = argument(type=FILE)


@command(SpreadOptions)
def spread(chosen: SpreadOptions) -> None:
    """Print the largest utilisation of a device, relative to the mean.

    \b
    Example:
    streamplace spread placement.json
    """
    used = [device.utilisation for device in simulate(read_placement(chosen.placement)).devices]
    ratio = max(used) * len(used) / sum(used)
    if chosen.as_json:
        print_json({"spread": ratio})
    else:
        click.echo(f"{ratio:.2f} times the mean")
