"""The command `diff`: what moves between two placements."""

import click

from streamplace.cli import options, param_types


@click.command()
@click.argument("a", type=param_types.FILE)
@click.argument("b", type=param_types.FILE)
@options.common
def diff(a: str, b: str, seed: int, as_json: bool) -> None:
    """Show which operators move between two placements.

    A and B are placement files of the same operators. The output also shows the memory that moves
    and how throughput changes; each placement is scored with the graph, cluster, source rate and
    model stored in its file. Devices are matched by name, so operators on a device that is missing
    from B count as moved.

    \b
    Examples:
    streamplace diff before.json after.json
    streamplace diff before.json after.json --json
    """
    from streamplace.cli.numba_loading import load_numba  # noqa: PLC0415

    load_numba()
    from streamplace.cli.terminal import print_result  # noqa: PLC0415 - loaded when the command runs
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files import read_placement  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.workflows.diff import difference  # noqa: PLC0415

    with working("reading"):
        before, after = read_placement(a), read_placement(b)
    with located(f"{name_of(a)} and {name_of(b)}"):
        found = difference(before, after)
    if as_json:
        options.print_json(found.to_dict())
    else:
        print_result(found)
