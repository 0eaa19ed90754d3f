"""The command `schema`: JSON Schemas of the file formats."""

import click

from streamplace.cli import options, param_types


@click.command()
@click.argument(
    "kind", type=param_types.Choice(("graph", "cluster", "placement", "scene")), metavar="KIND"
)
@options.common
def schema(kind: str, seed: int, as_json: bool) -> None:
    """Print the JSON Schema of a file format.

    KIND is graph, cluster, placement or scene. A scene is the file that `simulate
    --scene` reads: a scenario with source rates over time, windows and slow devices.

    \b
    Example:
    streamplace schema graph
    """
    from streamplace.files import schema as formats  # noqa: PLC0415 - loaded when the command runs

    options.print_json(formats.schema(kind))
