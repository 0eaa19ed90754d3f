"""The command `init`: a starter graph and cluster."""

from dataclasses import dataclass

from streamplace.cli import options, param_types, printing
from streamplace.cli.command import argument, command
from streamplace.errors import FormatError
from streamplace.files import write_json
from streamplace.files.atomic import make_folder
from streamplace.files.starter import STARTERS


@dataclass(frozen=True)
class InitOptions(options.Common):
    """The options of `init`."""

    folder: str = argument(type=param_types.FILE, default=".")


@command(InitOptions)
def init(chosen: InitOptions) -> None:
    """Write a starter graph.json and cluster.json to edit.

    Both files go into FOLDER, by default the current folder. Comments in them explain the fields.

    \b
    Examples:
    streamplace init
    streamplace init my-job
    """
    paths = {make_folder(chosen.folder) / name: value for name, value in STARTERS.items()}
    for path in paths:
        if path.exists():
            raise FormatError(f"{path}: already exists; delete it, or choose another folder")
    for path, value in paths.items():
        write_json(path, value)
    if chosen.as_json:
        printing.print_json({"files": [str(path) for path in paths]})
    else:
        graph, cluster = paths
        printing.print_note(f"wrote {graph} and {cluster}; next:")
        printing.print_note(f"  streamplace place {graph} --cluster {cluster} -o placement.json")
