"""The command `generate`: benchmark graphs."""

import re
from contextlib import closing
from dataclasses import dataclass

import click

from streamplace.cli import options, param_types
from streamplace.cli.command import (
    argument,
    command,
    ending_with,
    group,
    option,
    print_json,
    print_note,
)
from streamplace.cli.output_files import check_targets
from streamplace.execution.progress import track
from streamplace.families import Recipe
from streamplace.families.family import FAMILIES, GROUP, family_names
from streamplace.families.generation import generate as generated
from streamplace.files import write_clusters, write_dataset
from streamplace.files.clusters import check_name


def sizes(ctx: click.Context, param: click.Parameter, value: str | None) -> range | None:
    """Parse N or MIN-MAX."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", value)
    if match is None or int(match[2] or match[1]) < int(match[1]):
        expected = "must be N or MIN-MAX, in digits and the smaller number first"
        raise click.BadParameter(f"{expected} (got {value!r:.80})", ctx, param)
    return range(int(match[1]), int(match[2] or match[1]) + 1)


@dataclass(frozen=True)
class GenerateOptions(options.Common):
    """The options of `generate`."""

    preset: str = argument(type=param_types.FAMILY, metavar="FAMILY")
    count: int = option(
        "--count",
        type=param_types.Whole(),
        default=1,
        show_default=True,
        metavar="N",
        help="Number of graphs.",
    )
    operators: range | None = option(
        "--operators",
        callback=sizes,
        metavar="N|MIN-MAX",
        help="Operators per graph, e.g. 100 or 10-50.  [default: that of the family, 10-50 for "
        "layered and series-parallel]",
    )
    output: str = options.file(
        "-o",
        "File to write: .jsonl or .jsonl.gz (any number of graphs), .json or .npz (one graph), "
        "or - for JSON lines on stdout.",
        required=True,
    )
    clusters: str | None = options.file(
        "--clusters",
        "Also write the cluster of each graph, in the same order: .jsonl or .jsonl.gz. Only "
        "families with device networks of their own have clusters.",
    )
    workers: options.Workers = group(options.Workers)


@command(
    GenerateOptions,
    kind=ending_with("Families", GROUP, lambda: family_names()[len(FAMILIES) :]),
)
def generate(chosen: GenerateOptions) -> None:
    """Generate benchmark graphs.

    FAMILY is series-parallel, layered, or one of those below. Options follow the name: KEY=VALUE.

    FAMILY can also be your own: module:function or module:Class[:OPTION=VALUE…], from module.py in
    the current folder or from an installed module, or a name that an installed package registers.
    The same seed gives the same bytes on any machine and with any number of processes.

    \b
    Examples:
    streamplace generate layered --count 100 --seed 1 -o graphs.jsonl.gz
    streamplace generate layered --operators 1000000 -o large.npz
    streamplace generate series-parallel --operators 20 --seed 7 -o graph.json
    """
    options.refuse_both_on_stdout(chosen.output, chosen.as_json, "dataset")

    check_targets({"-o": chosen.output, "--clusters": chosen.clusters})
    recipe = Recipe(chosen.preset, chosen.count, chosen.operators, chosen.seed)
    if chosen.clusters is not None:
        check_name(chosen.clusters)
        recipe.check_clusters()
    made = generated(
        chosen.preset,
        chosen.count,
        chosen.operators,
        seed=chosen.seed,
        jobs=chosen.workers.jobs,
        backend=chosen.workers.where,
    )
    with closing(made) as graphs:
        write_dataset(chosen.output, track(graphs, chosen.count, "generating"))
    if chosen.clusters is not None:
        write_clusters(chosen.clusters, map(recipe.cluster, range(chosen.count)))
    result = {
        "preset": chosen.preset,
        "graphs": chosen.count,
        "seed": chosen.seed,
        "file": chosen.output,
    }
    if chosen.as_json:
        print_json(result if chosen.clusters is None else {**result, "clusters": chosen.clusters})
        return
    target = "stdout" if chosen.output == "-" else chosen.output
    graphs_text = "1 graph" if chosen.count == 1 else f"{chosen.count} graphs"
    also = "" if chosen.clusters is None else f", and the clusters to {chosen.clusters}"
    print_note(f"wrote {graphs_text} of {chosen.preset}, seed {chosen.seed}, to {target}{also}")
