"""The command `schema`: JSON Schemas of the file formats."""

from dataclasses import dataclass

from streamplace.cli import options, param_types, printing
from streamplace.cli.command import argument, command
from streamplace.files import schemas


@dataclass(frozen=True)
class SchemaOptions(options.Common):
    """The options of `schema`."""

    kind: str = argument(
        type=param_types.Choice(("graph", "cluster", "placement", "scene", "jobs")),
        metavar="KIND",
    )


@command(SchemaOptions)
def schema(chosen: SchemaOptions) -> None:
    """Print the JSON Schema of a file format.

    KIND is graph, cluster, placement, scene or jobs. A scene is the file that `simulate
    --scene` reads: a scenario with source rates over time, windows and slow devices. A file of
    jobs is the one that `place --job-file` reads.

    \b
    Example:
    streamplace schema graph
    """
    printing.print_json(schemas.schema(chosen.kind))
