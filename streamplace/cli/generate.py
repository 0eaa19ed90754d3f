"""The command `generate`: benchmark graphs."""

import re
from contextlib import closing

import click

from streamplace.cli import checks, options, param_types, printing


def sizes(ctx: click.Context, param: click.Parameter, value: str | None) -> range | None:
    """Parse N or MIN-MAX."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", value)
    if match is None or int(match[2] or match[1]) < int(match[1]):
        raise click.BadParameter(f"must be N or MIN-MAX (got {value!r:.80})", ctx, param)
    return range(int(match[1]), int(match[2] or match[1]) + 1)


class WithInstalled(click.Command):
    """A command whose help ends with the graph families of installed packages."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of those families, if any."""
        from streamplace.generate.registry import FAMILIES, family_names  # noqa: PLC0415 - heavy

        names = family_names()[len(FAMILIES) :]
        if names:
            formatter.write_paragraph()
            formatter.write_text(f"Families of installed packages: {', '.join(names)}")


@click.command(cls=WithInstalled)
@click.argument("preset", type=param_types.FAMILY, metavar="FAMILY")
@click.option(
    "--count",
    type=param_types.Whole(),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of graphs.",
)
@click.option(
    "--operators",
    callback=sizes,
    metavar="N|MIN-MAX",
    help="Operators per graph, e.g. 100 or 10-50.  [default: that of the family: 4-27 for dream, "
    "10-50 for layered and series-parallel]",
)
@click.option(
    "-o",
    "output",
    callback=checks.file_name,
    type=param_types.FILE,
    required=True,
    metavar="FILE",
    help="File to write: .jsonl or .jsonl.gz (any number of graphs), .json or .npz (one graph), "
    "or - for JSON lines on stdout.",
)
@click.option(
    "--clusters",
    callback=checks.file_name,
    type=param_types.FILE,
    metavar="FILE",
    help="Also write the cluster of each graph, in the same order: .jsonl or .jsonl.gz. Only the "
    "families giph-paper, giph-code, contended and sensor-fusion have clusters.",
)
@options.processes
@options.common
def generate(
    preset: str,
    count: int,
    operators: range | None,
    output: str,
    clusters: str | None,
    jobs: int | None,
    backend: str,
    address: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Generate benchmark graphs.

    FAMILY is dream (the branched benchmark of Ni et al., AAAI 2020), series-parallel or layered;
    for makespans giph-paper or giph-code (task graphs with device networks), sensor-fusion
    (snapshots of vehicles and road-side units), enas-cifar, enas-ptb or nmt (training steps of
    neural networks), chain-mm, ffnn, transformer-block or transformer-layer (tensor operations
    divided into shards), or contended (large ones of these on shared links). Options follow the
    name: KEY=VALUE.

    FAMILY can also be your own: module:function[:OPTION=VALUE…], from module.py in the current
    folder or from an installed module, or a name that an installed package registers. The same seed
    gives the same bytes on any machine and with any number of processes.

    \b
    Examples:
    streamplace generate dream --count 3150 --seed 1 -o dream.jsonl.gz
    streamplace generate layered --operators 1000000 -o large.npz
    streamplace generate giph-code --count 60 -o giph.jsonl --clusters networks.jsonl
    streamplace generate chain-mm:shards=8 -o chain.json
    """
    if output == "-" and as_json:
        raise click.UsageError("cannot combine -o - with --json: both write to stdout")
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415
    from streamplace.execution.backends import Backend  # noqa: PLC0415 - loaded when the command runs
    from streamplace.execution.parallel import each  # noqa: PLC0415
    from streamplace.execution.progress import track  # noqa: PLC0415
    from streamplace.files import write_clusters, write_dataset  # noqa: PLC0415
    from streamplace.files.cluster_lists import check_name  # noqa: PLC0415
    from streamplace.generate import Recipe  # noqa: PLC0415

    check_targets({"-o": output, "--clusters": clusters})
    recipe = Recipe(preset, count, operators, seed)
    if clusters is not None:
        check_name(clusters)
        recipe.check_clusters()
    with closing(each(recipe.graph, range(count), jobs, Backend(backend, address))) as graphs:
        write_dataset(output, track(graphs, count, "generating"))
    if clusters is not None:
        write_clusters(clusters, map(recipe.cluster, range(count)))
    result = {"preset": preset, "graphs": count, "seed": seed, "file": output}
    if as_json:
        printing.print_json(result if clusters is None else {**result, "clusters": clusters})
        return
    target = "stdout" if output == "-" else output
    graphs_text = "1 graph" if count == 1 else f"{count} graphs"
    also = "" if clusters is None else f", and the clusters to {clusters}"
    printing.print_note(f"wrote {graphs_text} of {preset}, seed {seed}, to {target}{also}")
