"""The command `explain`: the bottleneck of a placement."""

import click

from streamplace.cli import options, param_types


@click.command()
@click.argument("placement", type=param_types.FILE)
@click.option(
    "--top",
    type=param_types.Whole(1),
    default=5,
    show_default=True,
    metavar="N",
    help="Number of rows to print per table.",
)
@options.common
def explain(placement: str, top: int, seed: int, as_json: bool) -> None:
    """Explain a placement's bottleneck, and list helpful moves.

    The output shows which operators or streams load the busiest device or link, and which single
    moves of operators would raise throughput. Operators that must stay together because of a
    constraint are moved together. A placement made under --model engine is explained with the
    bottleneck model.

    \b
    Examples:
    streamplace explain placement.json
    streamplace explain placement.json --json
    """
    from streamplace.cli.terminal import print_result  # noqa: PLC0415
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files import read_placement  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.workflows import explain  # noqa: PLC0415 - loaded when the command runs

    with working("reading"):
        read = read_placement(placement)
    with working("trying moves"), located(name_of(placement)):
        found = explain.explain(read)
    if as_json:
        options.print_json(found.to_dict())
    else:
        print_result(found, limit=top)
