"""The command `schema`: JSON Schemas of the file formats."""

from dataclasses import dataclass
from typing import Any

from streamplace.cli import options, param_types
from streamplace.cli.command import argument, command, print_json
from streamplace.files.schema import Form
from streamplace.util.plugins import load_ours

FORMS = {
    "graph": "streamplace.files.schema:GraphForm",
    "cluster": "streamplace.files.schema:ClusterForm",
    "placement": "streamplace.files.schema:PlacementForm",
    "scene": "streamplace.ticks.files:SceneForm",
    "jobs": "streamplace.jobs.files:JobsForm",
}


@dataclass(frozen=True)
class SchemaOptions(options.Common):
    """The options of `schema`."""

    kind: str = argument(
        type=param_types.Choice(tuple(FORMS)),
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
    print_json(schema_of(chosen.kind))


def schema_of(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of one of `FORMS`."""
    form: type[Form] = load_ours(FORMS[kind])
    return form.model_json_schema(by_alias=True)
