"""The command that says what is in a file."""

import click

from streamplace.cli import options, param_types


@click.command()
@click.argument("file", type=param_types.GRAPH)
@options.common
def info(file: str, seed: int, as_json: bool) -> None:
    """Tell what is in a graph, dataset, cluster, placement, checkpoint or file of weights.

    \b
    streamplace info dataset:real/riotbench-etl.json
    streamplace info run/policy.safetensors
    """
    from streamplace.cli.facts import print_facts  # noqa: PLC0415 - a command loads what it needs
    from streamplace.execution.progress import working  # noqa: PLC0415

    with working("reading"):
        if file.endswith(".safetensors"):
            from streamplace.policy import inspect as of_policies  # noqa: PLC0415

            found = of_policies.summary(file)
        else:
            from streamplace.files.summary import summary  # noqa: PLC0415

            found = summary(file)
    if as_json:
        options.print_json(found)
    else:
        print_facts(found)
