"""The command `schema`: JSON Schemas of the file formats."""

import click

from streamplace.cli import options, param_types, printing


@click.command()
@click.argument(
    "kind",
    type=param_types.Choice(("graph", "cluster", "placement", "scene", "jobs")),
    metavar="KIND",
)
@options.common
def schema(kind: str, seed: int, as_json: bool) -> None:
    """Print the JSON Schema of a file format.

    KIND is graph, cluster, placement, scene or jobs. A scene is the file that `simulate
    --scene` reads: a scenario with source rates over time, windows and slow devices. A file of
    jobs is the one that `place --job-file` reads.

    \b
    Example:
    streamplace schema graph
    """
    from streamplace.files import schemas  # noqa: PLC0415 - loaded when the command runs

    printing.print_json(schemas.schema(kind))
