"""The command `init`: a starter graph and cluster."""

import click

from streamplace.cli import checks, options, param_types, printing


@click.command()
@click.argument("folder", callback=checks.file_name, type=param_types.FILE, default=".")
@options.common
def init(folder: str, seed: int, as_json: bool) -> None:
    """Write a starter graph.json and cluster.json to edit.

    Both files go into FOLDER, by default the current folder. Comments in them explain the fields.

    \b
    Examples:
    streamplace init
    streamplace init my-job
    """
    from streamplace.errors import FormatError  # noqa: PLC0415 - loaded when the command runs
    from streamplace.files import write_json  # noqa: PLC0415
    from streamplace.files.atomic import make_folder  # noqa: PLC0415
    from streamplace.files.starter import STARTERS  # noqa: PLC0415

    paths = {make_folder(folder) / name: value for name, value in STARTERS.items()}
    for path in paths:
        if path.exists():
            raise FormatError(f"{path}: already exists; delete it, or choose another folder")
    for path, value in paths.items():
        write_json(path, value)
    if as_json:
        printing.print_json({"files": [str(path) for path in paths]})
    else:
        graph, cluster = paths
        printing.print_note(f"wrote {graph} and {cluster}; next:")
        printing.print_note(f"  streamplace place {graph} --cluster {cluster} -o placement.json")
