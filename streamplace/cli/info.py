"""The command `info`: summaries of files."""

import click

from streamplace.cli import options, param_types, printing


@click.command()
@click.argument("file", type=param_types.GRAPH)
@options.common
def info(file: str, seed: int, as_json: bool) -> None:
    """Summarise a graph, dataset, cluster, placement or policy.

    FILE is a graph, a dataset (a file or folder of graphs, or dataset:real), one or several
    clusters, a placement, or a .safetensors file of a run: a policy's weights or a checkpoint.

    A graph's longest path, and the longest of the shortest paths between two operators, follow
    streams and count operators; the latter is left out above 1,000 operators. An operator's level
    is the length of the longest path to it, and the width of a graph is that of its largest level.

    \b
    Examples:
    streamplace info dataset:real/riotbench-etl.json
    streamplace info run/policy.safetensors
    """
    from streamplace.cli.facts import print_facts  # noqa: PLC0415 - loaded when the command runs
    from streamplace.execution.progress import working  # noqa: PLC0415

    with working("reading"):
        if file.endswith(".safetensors"):
            from streamplace.policy import weights_file  # noqa: PLC0415

            found = weights_file.summary(file)
        else:
            from streamplace.files.summary import summary  # noqa: PLC0415

            found = summary(file)
    if as_json:
        printing.print_json(found)
    else:
        print_facts(found)
