"""The command `compare`: comparison of placers over a dataset."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import click

from streamplace.cli import inputs, makespan_options, options, param_types, printing
from streamplace.cli.command import argument, command, group, option
from streamplace.cli.inputs import naming_the_default, read_list
from streamplace.cli.makespan_options import Asked, MakespanSettings
from streamplace.cli.output_files import refuse_folder, weights_of
from streamplace.cli.terminal import console, print_result
from streamplace.errors import located, within
from streamplace.execution.progress import working
from streamplace.files import open_dataset
from streamplace.files.folder_lock import held
from streamplace.files.reading import name_of
from streamplace.placers.limits import Limit, MaxEvaluations, MaxRuntime
from streamplace.placers.registry import named
from streamplace.plots.comparison_folder import names_of, save_report
from streamplace.problem.cluster import Cluster
from streamplace.problem.losses import Losses
from streamplace.problem.makespan import PublishedName
from streamplace.problem.objective import Throughput
from streamplace.workflows import compare as workflow
from streamplace.workflows.cases import Cases
from streamplace.workflows.comparison import Comparison
from streamplace.workflows.makespan_comparison import MakespanComparison

NOTE = "vs {}: share of graphs better (+) and worse (-)"

THROUGHPUT_PLACERS, MAKESPAN_PLACERS = "metis,metis-oracle,fuser,auto", "heft,peft,climb,auto"


@dataclass(frozen=True)
class CompareOptions(options.Common):
    """The options of `compare`."""

    dataset: str = argument(type=param_types.GRAPH)
    placers: str | None = option(
        "--placers",
        type=param_types.PLACER,
        metavar="A[,B…]",
        help="Placers to compare, each NAME[:OPTION=VALUE…]; `streamplace place --help` lists "
        f"them.  [default: {THROUGHPUT_PLACERS}; with --objective makespan {MAKESPAN_PLACERS}]",
    )
    evaluations: int | None = option(
        "--evaluations",
        type=param_types.Whole(1),
        metavar="N",
        help="Placements that every placer evaluates per graph, for those that have such an "
        "option.",
    )
    time_limit: float | None = options.time_limit(
        "Seconds per graph for every placer that has a time limit."
    )
    cluster: options.ClusterChoice = options.cluster()
    clusters_file: str | None = options.clusters(
        "instead of one for all graphs: graph i is placed on cluster i."
    )
    cross: bool = option(
        "--cross", is_flag=True, help="With --clusters: place every graph on every cluster."
    )
    lost: options.LostDevices = group(options.LostDevices)
    throughput: options.ThroughputChoice = options.throughput(
        None, "each graph's own", "with several, the comparison is repeated for each"
    )
    objective: str | None = options.objective()
    makespan: MakespanSettings = group(MakespanSettings)
    semantics: PublishedName | None = makespan_options.semantics()
    into: options.Folder = options.folder(
        "Folder to write results, tables and plots into; created if missing."
    )
    workers: options.Workers = group(options.Workers)


@command(CompareOptions)
def compare(chosen: CompareOptions) -> None:
    """Compare placers over the graphs of a dataset.

    DATASET is a file or a folder of graphs, or dataset:real for those that come with streamplace.
    The table shows relative throughput (throughput / source rate) over the graphs or, with
    --objective makespan, the mean time of one pass, its ratio to the longest path with every
    operator on its fastest device (SLR), and its ratio to the makespan of HEFT's mapping if heft is
    among the placers.

    \b
    Examples:
    streamplace compare dataset:real --devices 3x2500 --placers metis,fuser,greedy,auto
    streamplace compare dream.jsonl.gz --placers metis,metis-oracle --source-rate 1e4,2e4
    streamplace compare dataset:real -o results --plots pdf
    streamplace compare graphs.jsonl --clusters clusters.jsonl --objective makespan
    streamplace compare dream.jsonl.gz --placers random,climb,search,policy --evaluations 100
    streamplace compare dream.jsonl.gz --backend ray --address 10.0.0.1:6379

    \b
    Files in DIR:
    compare.json              what --json prints
    table.csv                 the printed table
    graphs.csv                a row per graph, placer and source rate
    by_rate.csv, .md, .tex    a row per placer, a column per source rate and statistic
    throughput.png            distribution of relative throughput
    devices.png               number of devices used
    table.md, .tex            --objective makespan: the printed table, instead of by_rate
    makespan.png              --objective makespan: distribution, instead of the other pictures
    """
    if chosen.into.folder is None and chosen.into.plots is not None:
        raise click.UsageError("--plots requires -o")
    _check_clusters(chosen)
    rates, folder = chosen.throughput.changes, chosen.into.folder
    kind = Asked.of(chosen.objective, chosen.makespan, chosen.seed).over() or Throughput()
    makespan_options.refuse_rates(kind, rates)
    kind = kind.with_changes(**{**rates, "source_rate": None})
    if chosen.semantics is not None:
        makespan_options.require(kind, "semantics")
    placers = chosen.placers or (MAKESPAN_PLACERS if kind.is_pass else THROUGHPUT_PLACERS)
    if not all(placers.split(",")):
        raise click.UsageError(f"--placers: empty name (got {placers!r}); separate names by commas")
    names = _budgeted(placers.split(","), chosen.evaluations, chosen.time_limit)
    pictures, by_file = chosen.into.pictures, chosen.cluster.cluster_file
    if folder is not None:
        read_files = (chosen.dataset, by_file, chosen.clusters_file, *weights_of(placers))
        refuse_folder("-o", folder, names_of(pictures, kind.is_pass), read_files)
    with nullcontext() if folder is None else held(folder):  # before anything runs
        with working("reading"):
            graphs, lost = open_dataset(chosen.dataset), inputs.the_losses(chosen.lost)
            if chosen.clusters_file is None:
                cluster = Cluster.of(inputs.the_cluster(chosen.cluster))
                cases = Cases.of(graphs, lost.cluster(cluster) if lost else cluster)
            else:
                clusters = _clusters(chosen.clusters_file, len(graphs), chosen.cross, lost)
                cases = Cases.of(graphs, clusters=clusters, cross=chosen.cross)
        named = (chosen.clusters_file, by_file, chosen.cluster.devices)
        hinting = naming_the_default(
            named == (None, None, None), "--cluster FILE or --clusters FILE"
        )
        with hinting, located(name_of(chosen.dataset)):
            result = workflow.compared(
                cases,
                names,
                chosen.throughput.source_rates or (None,),
                objective=kind,
                semantics=chosen.semantics,
                dataset=chosen.dataset,
                seed=chosen.seed,
                jobs=chosen.workers.jobs,
                backend=chosen.workers.where,
            )
        if folder is not None:
            for stale in save_report(folder, result, pictures):
                printing.print_note(f"removed {stale}, a file of an earlier comparison")
    _print(result, chosen.as_json)


def _budgeted(
    names: Sequence[str], evaluations: int | None, time_limit: float | None
) -> Sequence[str]:
    """Return the placers with equal budgets, after naming those that have none on stderr."""
    limit: Limit
    if evaluations is not None and time_limit is not None:
        raise click.UsageError("give only one of --evaluations and --time-limit")
    if evaluations is not None:
        option_name, limit = "--evaluations", MaxEvaluations(evaluations)
    elif time_limit is not None:
        option_name, limit = "--time-limit", MaxRuntime(time_limit)
    else:
        return names
    placers = [named(name) for name in names]
    if unlimited := [placer.text for placer in placers if not placer.accepts(limit)]:
        printing.print_note(f"{option_name} does not apply to {', '.join(unlimited)}")
    return [p.limited(limit).text if p.accepts(limit) else p.text for p in placers]


def _print(result: Comparison | MakespanComparison, as_json: bool) -> None:
    """Print the table and its notes, or JSON."""
    for note in result.notes:
        printing.print_note(note)
    if as_json:
        printing.print_json(result.to_dict())
        return
    print_result(result)
    if result.reference in result.placers:
        console().print(NOTE.format(result.reference))


def _check_clusters(chosen: CompareOptions) -> None:
    """Refuse options that cannot be combined with --clusters, or require it."""
    if chosen.clusters_file is None:
        if chosen.cross:
            raise click.UsageError("--cross requires --clusters")
        return
    cluster_file, devices = chosen.cluster.cluster_file, chosen.cluster.devices
    for name, value in (("--cluster", cluster_file), ("--devices", devices)):
        if value is not None:
            raise click.UsageError(f"cannot combine --clusters with {name}")


def _clusters(file: str, graphs: int, cross: bool, lost: Losses) -> list[Cluster]:
    """Read the clusters of a file, and return what is left of each.

    Their number must be that of the graphs unless every graph is placed on every cluster.
    """
    remedy = "; --cross places every graph on every cluster"
    left = []
    for number, cluster in enumerate(read_list(file, 0 if cross else graphs, remedy)):
        with located(name_of(file)), within(f"cluster {number}"):
            left.append(lost.cluster(cluster) if lost else cluster)
    return left
