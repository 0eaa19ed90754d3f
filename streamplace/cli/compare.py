"""The command `compare`: comparison of placers over a dataset."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from streamplace.cli import from_options, makespan_options, options, param_types, printing
from streamplace.cli.cluster_lists import clusters_option, read_list
from streamplace.cli.folder_options import folder_and_plots, pictures_of
from streamplace.problem.makespan import Makespan, PublishedName

if TYPE_CHECKING:
    from streamplace.problem.cluster import Cluster
    from streamplace.problem.losses import Losses
    from streamplace.workflows.comparison import Comparison
    from streamplace.workflows.makespan_comparison import MakespanComparison

NOTE = "vs {}: share of graphs better (+) and worse (-)"

THROUGHPUT_PLACERS, MAKESPAN_PLACERS = "metis,metis-oracle,fuser,auto", "heft,peft,climb,auto"


@click.command()
@click.argument("dataset", type=param_types.GRAPH)
@click.option(
    "--placers",
    type=param_types.PLACER,
    metavar="A[,B…]",
    help="Placers to compare, each NAME[:OPTION=VALUE…]; `streamplace place --help` lists them.  "
    f"[default: {THROUGHPUT_PLACERS}; with --objective makespan {MAKESPAN_PLACERS}]",
)
@click.option(
    "--evaluations",
    type=param_types.Whole(1),
    metavar="N",
    help="Placements that every placer evaluates per graph, for those that have such an option.",
)
@options.time_limit("Seconds per graph for every placer that has a time limit.")
@options.cluster()
@clusters_option("instead of one for all graphs: graph i is placed on cluster i.")
@click.option("--cross", is_flag=True, help="With --clusters: place every graph on every cluster.")
@options.losses
@options.source_rates("each graph's own", "with several, the comparison is repeated for each")
@options.model()
@options.target_utilisation()
@options.objective()
@makespan_options.options
@makespan_options.semantics
@folder_and_plots("Folder to write results, tables and plots into; created if missing.")
@options.processes
@options.common
def compare(
    dataset: str,
    placers: str | None,
    evaluations: int | None,
    time_limit: float | None,
    cluster_file: str | None,
    devices: str | None,
    clusters_file: str | None,
    cross: bool,
    without: str | None,
    slow: str | None,
    source_rates: tuple[float, ...] | None,
    model: str | None,
    target_utilisation: float | None,
    objective: str | None,
    semantics: PublishedName | None,
    folder: str | None,
    plots: str | None,
    jobs: int | None,
    backend: str,
    address: str | None,
    seed: int,
    as_json: bool,
    **makespan_values: Any,
) -> None:
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
    if folder is None and plots is not None:
        raise click.UsageError("--plots requires -o")
    _check_clusters(clusters_file, cluster_file, devices, cross=cross)
    from contextlib import nullcontext  # noqa: PLC0415 - loaded when the command runs

    from streamplace.cli.default_cluster import naming_the_default  # noqa: PLC0415
    from streamplace.cli.output_files import refuse_folder, weights_of  # noqa: PLC0415
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.execution.backends import Backend  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files import open_dataset  # noqa: PLC0415
    from streamplace.files.folder_lock import held  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.plots.comparison_folder import names_of, save_report  # noqa: PLC0415
    from streamplace.problem.cluster import Cluster  # noqa: PLC0415
    from streamplace.problem.objective import Throughput  # noqa: PLC0415
    from streamplace.workflows import compare as workflow  # noqa: PLC0415
    from streamplace.workflows.cases import Cases  # noqa: PLC0415

    kind = (
        makespan_options.with_settings(from_options.the_objective(objective), makespan_values, seed)
        or Throughput()
    )
    settings: dict[str, Any] = {"model": model, "target_utilisation": target_utilisation}
    makespan_options.refuse_rates(kind, {"source_rate": source_rates, **settings})
    kind = kind.with_changes(**settings)
    if semantics is not None:
        makespan_options.require(kind, "semantics")
    placers = placers or (MAKESPAN_PLACERS if isinstance(kind, Makespan) else THROUGHPUT_PLACERS)
    if not all(placers.split(",")):
        raise click.UsageError(f"--placers: empty name (got {placers!r}); separate names by commas")
    names = _budgeted(placers.split(","), evaluations, time_limit)
    pictures = pictures_of(plots)
    if folder is not None:
        inputs = (dataset, cluster_file, clusters_file, *weights_of(placers))
        refuse_folder("-o", folder, names_of(pictures, isinstance(kind, Makespan)), inputs)
    with nullcontext() if folder is None else held(folder):  # before anything runs
        with working("reading"):
            graphs, lost = open_dataset(dataset), from_options.the_losses(without, slow)
            if clusters_file is None:
                cluster = Cluster.of(from_options.the_cluster(cluster_file, devices))
                cases = Cases.of(graphs, lost.cluster(cluster) if lost else cluster)
            else:
                clusters = _clusters(clusters_file, len(graphs), cross, lost)
                cases = Cases.of(graphs, clusters=clusters, cross=cross)
        by_default = clusters_file is None and cluster_file is None and devices is None
        hinting = naming_the_default(by_default, "--cluster FILE or --clusters FILE")
        with hinting, located(name_of(dataset)):
            result = workflow.compared(
                cases,
                names,
                source_rates or (None,),
                objective=kind,
                semantics=semantics,
                dataset=dataset,
                seed=seed,
                jobs=jobs,
                backend=Backend(backend, address),
            )
        if folder is not None:
            for stale in save_report(folder, result, pictures):
                printing.print_note(f"removed {stale}, a file of an earlier comparison")
    _print(result, as_json)


def _budgeted(
    names: Sequence[str], evaluations: int | None, time_limit: float | None
) -> Sequence[str]:
    """Return the placers with equal budgets, after naming those that have none on stderr."""
    from streamplace.placers.budgets import with_evaluations, with_seconds  # noqa: PLC0415 - heavy

    if evaluations is not None and time_limit is not None:
        raise click.UsageError("give only one of --evaluations and --time-limit")
    if evaluations is not None:
        option, found = "--evaluations", with_evaluations(names, evaluations)
    elif time_limit is not None:
        option, found = "--time-limit", with_seconds(names, time_limit)
    else:
        return names
    if found.unlimited:
        printing.print_note(f"{option} does not apply to {', '.join(found.unlimited)}")
    return found.names


def _print(result: "Comparison | MakespanComparison", as_json: bool) -> None:
    """Print the table and its notes, or JSON."""
    from streamplace.cli.terminal import console, print_result  # noqa: PLC0415 - see compare
    from streamplace.workflows.makespan_comparison import MakespanComparison  # noqa: PLC0415

    for note in result.notes if isinstance(result, MakespanComparison) else ():
        printing.print_note(note)
    if as_json:
        printing.print_json(result.to_dict())
        return
    print_result(result)
    if result.reference in result.placers:
        console().print(NOTE.format(result.reference))


def _check_clusters(
    file: str | None, cluster_file: str | None, devices: str | None, *, cross: bool
) -> None:
    """Refuse options that cannot be combined with --clusters, or require it."""
    if file is None:
        if cross:
            raise click.UsageError("--cross requires --clusters")
        return
    for option, value in (("--cluster", cluster_file), ("--devices", devices)):
        if value is not None:
            raise click.UsageError(f"cannot combine --clusters with {option}")


def _clusters(file: str, graphs: int, cross: bool, lost: "Losses") -> "list[Cluster]":
    """Read the clusters of a file, and return what is left of each.

    Their number must be that of the graphs unless every graph is placed on every cluster.
    """
    from streamplace.errors import located, within  # noqa: PLC0415 - see compare
    from streamplace.files.reading import name_of  # noqa: PLC0415

    remedy = "; --cross places every graph on every cluster"
    left = []
    for number, cluster in enumerate(read_list(file, 0 if cross else graphs, remedy)):
        with located(name_of(file)), within(f"cluster {number}"):
            left.append(lost.cluster(cluster) if lost else cluster)
    return left
