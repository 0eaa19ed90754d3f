"""The command `compare`: comparison of placers over a dataset."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import click

from streamplace.cli import inputs, makespan_options, options, param_types
from streamplace.cli.command import (
    argument,
    command,
    command_line,
    group,
    option,
    print_json,
    print_note,
)
from streamplace.cli.inputs import naming_the_default, read_list
from streamplace.cli.makespan_options import Asked, MakespanSettings
from streamplace.cli.output_files import check_targets, refuse_folder, weights_of
from streamplace.cli.settings import options_of
from streamplace.cli.terminal import console, print_result
from streamplace.display.formats import TABLES, kind_of
from streamplace.errors import located, within
from streamplace.execution.progress import working
from streamplace.files import open_dataset, write_json
from streamplace.files.reading import name_of
from streamplace.files.writing import held
from streamplace.placers.limits import MaxEvaluations, MaxRuntime, PlacerLimit
from streamplace.placers.registry import NamedPlacer, ready
from streamplace.problem.cluster import Cluster
from streamplace.problem.losses import Losses
from streamplace.problem.makespan import Makespan, PublishedName
from streamplace.problem.objective import Objective, Throughput
from streamplace.util.suggest import candidates
from streamplace.util.text import printable
from streamplace.workflows import compare as workflow
from streamplace.workflows.cases import Cases
from streamplace.workflows.comparison import Comparison
from streamplace.workflows.comparison_folder import BARS, names_of, save_report, write_table
from streamplace.workflows.comparison_tables import check_columns
from streamplace.workflows.settings import CompareSettings

COMMAND_FILE = "command.json"
THROUGHPUT_PLACERS, MAKESPAN_PLACERS, ANY_PLACERS = (
    ",".join(each.compared) for each in (Throughput, Makespan, Objective)
)


@dataclass(frozen=True)
class CompareOptions(options.Common):
    """The options of `compare`."""

    dataset: str = argument(type=param_types.GRAPH)
    placers: tuple[str, ...] | None = option(
        "--placers",
        type=param_types.PLACER,
        callback=param_types.placer_names,
        metavar="A[,B…]",
        help="Placers to compare, each NAME[:OPTION=VALUE…]; `streamplace place --help` lists "
        f"them.  [default: {THROUGHPUT_PLACERS}; with --objective makespan {MAKESPAN_PLACERS}; "
        f"with any other {ANY_PLACERS}]",
    )
    label: tuple[str, ...] = option(
        "--label",
        multiple=True,
        metavar="PLACER=TEXT",
        help="What tables and plots call a placer of --placers; repeatable.",
    )
    evaluations: tuple[int, ...] | None = option(
        "--evaluations",
        type=param_types.Several(param_types.Whole(1)),
        metavar="N[,N2…]",
        help="Placements that every placer evaluates per graph, for those that have such an "
        "option; with several numbers, a line for each.",
    )
    time_limit: tuple[float, ...] | None = option(
        "--time-limit",
        type=param_types.Several(param_types.SECONDS),
        callback=param_types.all_at_least_0,
        metavar="S[,S2…]",
        help="Seconds per graph for every placer that has a time limit; several as for "
        "--evaluations.",
    )
    cluster: options.ClusterChoice = options.cluster()
    clusters_file: str | None = options.clusters(
        "instead of one for all graphs: graph i is placed on cluster i."
    )
    cross: bool = options_of(CompareSettings, "cross")["cross"]
    lost: options.LostDevices = group(options.LostDevices)
    throughput: options.ThroughputChoice = options.throughput(
        None, "each graph's own", "With several, the comparison is repeated for each"
    )
    objective: str | None = options.objective()
    makespan: MakespanSettings = group(MakespanSettings)
    semantics: PublishedName | None = makespan_options.semantics()
    into: options.Folder = options.folder(
        "Folder to write results, tables and plots into; created if missing."
    )
    table: str | None = options.file(
        "--table", "File to write the table into: .csv with all digits, .tex or .md."
    )
    columns: str | None = option(
        "--columns",
        metavar="NAME[,…]",
        help="Columns of the printed table and of --table, table.md and table.tex, in this order, "
        "beside placers and rates; an unknown name lists all.  [default: all that say something "
        "but cpu-ms; few in .md and .tex, which fit into a column of a paper]",
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
    streamplace compare graphs.jsonl.gz --placers metis,metis-oracle --source-rate 1e4,2e4
    streamplace compare dataset:real -o results --plots pdf
    streamplace compare graphs.jsonl --clusters clusters.jsonl --objective makespan
    streamplace compare graphs.jsonl.gz --placers random,climb,search,policy --evaluations 100
    streamplace compare graphs.jsonl.gz --placers search,climb --time-limit 0.01,0.1,1 -o results
    streamplace compare graphs.jsonl.gz --placers metis,search --label search=ours --table t.tex
    streamplace compare graphs.jsonl.gz --backend ray --address 10.0.0.1:6379

    \b
    Files in DIR:
    command.json              this command, the version of streamplace, and the seed
    compare.json              what --json prints
    table.csv                 the figures of each placer and source rate
    table.md, .tex            the table for a paper; see --columns
    graphs.csv                a line per graph, placer and source rate
    differences.png           difference to the first placer: mean with 95% interval
    throughput.png            distribution of relative throughput
    devices.png               number of devices used, of at most six placers
    budgets.png               with several budgets: mean result over evaluations or time
    ratios.png, makespan.png  --objective makespan: the same as ratios, and their distribution,
                              instead; costs.png with any other objective
    """
    if chosen.into.folder is None:
        options.refuse_unused({"--plots": "-o"})
    _check_clusters(chosen)
    folder, kind = chosen.into.folder, _objective(chosen)
    placers = chosen.placers or kind.compared
    limits = _limits(chosen)
    budgets, unlimited = _budgets(_labels_of_placers(placers, chosen.label), limits)
    rows = {name: placer for each in budgets.values() for name, placer in each.items()}
    curves = {placer: tuple(each) for placer, each in budgets.items()}
    by_budget = curves if len(rows) > len(curves) else None
    pictures, by_file = chosen.into.pictures, chosen.cluster.cluster_file
    read_files = (chosen.dataset, by_file, chosen.clusters_file, *weights_of(*placers))
    if chosen.table is not None:
        kind_of(chosen.table, TABLES, "table")
    check_targets({"--table": chosen.table}, read_files)
    measure = kind.function("measure")(kind)
    columns = param_types.names_in(chosen.columns)
    check_columns(columns, measure.columns())
    if folder is not None:
        names = names_of(pictures, measure, len(rows), budgets=by_budget is not None)
        written = [COMMAND_FILE, *names]
        refuse_folder("-o", folder, written, read_files)
    with nullcontext() if folder is None else held(folder):  # before anything runs
        with working("reading"):
            cases = _cases(chosen)
        if limits and unlimited:
            name = "--evaluations" if isinstance(limits[0], MaxEvaluations) else "--time-limit"
            print_note(f"{name} does not apply to {', '.join(unlimited)}")
        named = (chosen.clusters_file, by_file, chosen.cluster.devices)
        hinting = naming_the_default(
            named == (None, None, None), "--cluster FILE or --clusters FILE"
        )
        with hinting, located(name_of(chosen.dataset)):
            result = workflow.compared(
                cases,
                rows,
                chosen.throughput.source_rates or (None,),
                objective=kind,
                semantics=chosen.semantics,
                dataset=chosen.dataset,
                seed=chosen.seed,
                jobs=chosen.workers.jobs,
                backend=chosen.workers.where,
            )
        if columns:
            result = result.of_columns(columns)
        if chosen.clusters_file is None:
            inputs.print_assumed(chosen.cluster)
        if folder is not None:
            numbers = chosen.evaluations or ()
            made_by = {"command": command_line(), "streamplace": version("streamplace")}
            write_json(Path(folder) / COMMAND_FILE, {**made_by, "seed": chosen.seed})
            for stale in save_report(folder, result, pictures, by_budget, numbers):
                print_note(f"removed {stale}, a file of an earlier comparison")
            if pictures is not None and not result.measure.is_ratio:
                print_note(_left_out(list(curves)))
        if chosen.table is not None:
            write_table(chosen.table, result)
    _print(result, chosen.as_json)


def _labels_of_placers(placers: Sequence[str], labels: Sequence[str]) -> dict[str, str]:
    """Return placers by the names that tables and plots shall show; see the option --label."""
    if repeated := sorted({name for name in placers if placers.count(name) > 1}):
        raise click.UsageError(f"--placers: {repeated[0]!r} is listed twice; leave one out")
    shown = {placer: placer for placer in placers}
    for text in labels:
        # a placer may contain =, and so may a label
        of = [placer for placer in placers if text.startswith(f"{placer}=")]
        placer = max(of, key=len) if of else text.rpartition("=")[0]
        label = text.removeprefix(f"{placer}=").strip()
        if not placer or not label:
            raise click.UsageError(f"--label: must be PLACER=TEXT (got {text!r:.80})")
        if placer not in shown:
            known = candidates(placer, placers)
            raise click.UsageError(f"--label: {placer!r:.80} is not among --placers{known}")
        if label in {name for other, name in shown.items() if other != placer}:
            raise click.UsageError(f"--label: two placers are called {label!r:.80}")
        shown[placer] = label
    return {label: placer for placer, label in shown.items()}


def _limits(chosen: CompareOptions) -> Sequence[PlacerLimit]:
    """Return the budgets of placers, ascending."""
    if chosen.evaluations and chosen.time_limit:
        raise click.UsageError("give only one of --evaluations and --time-limit")
    if chosen.evaluations:
        return [MaxEvaluations(number) for number in chosen.evaluations]
    return [MaxRuntime(seconds) for seconds in chosen.time_limit or ()]


def _budgets(
    placers: Mapping[str, str], limits: Sequence[PlacerLimit]
) -> tuple[dict[str, dict[str, NamedPlacer]], list[str]]:
    """Return the rows of every placer, a name and a placer for each budget.

    The list names placers that have no such budget.

    Parameters
    ----------
    placers
        The name that the table shows -> placer.
    """
    found: dict[str, dict[str, NamedPlacer]] = {}
    unlimited = []
    for label, text in placers.items():
        placer = ready(text)
        if not (limits and placer.accepts(limits[0])):
            unlimited.append(placer.text)
            found[label] = {label: placer}
            continue
        budgeted = [placer.limited(limit) for limit in limits]
        names = [one.text for one in budgeted]
        if label != text:
            names = (
                [label]
                if len(limits) == 1
                else [_name_with_budget(label, limit) for limit in limits]
            )
        found[label] = dict(zip(names, budgeted, strict=True))
    return found, unlimited


def _name_with_budget(label: str, limit: PlacerLimit) -> str:
    """Return the name of the row of a labelled placer with one of several budgets."""
    return f"{label}, {limit.value:g} {'evaluations' if isinstance(limit, MaxEvaluations) else 's'}"


def _left_out(placers: Sequence[str]) -> str:
    """Return the note about placers that the picture of devices lacks; empty without any."""
    if len(placers) <= BARS:
        return ""
    shown = f"the plot of devices shows the first {BARS} of {len(placers)} placers, not "
    return printable(shown + ", ".join(placers[BARS:]))


def _print(result: Comparison, as_json: bool) -> None:
    """Print the table and its notes, or JSON."""
    for note in result.notes:
        print_note(note)
    if as_json:
        print_json(result.to_dict())
        return
    print_result(result)
    for meaning in result.meanings(result.columns):
        console().print(printable(meaning))


def _check_clusters(chosen: CompareOptions) -> None:
    """Refuse options that cannot be combined with --clusters, or require it."""
    if chosen.clusters_file is None:
        options.refuse_unused({"--cross": "--clusters"})
        return
    cluster_file, devices = chosen.cluster.cluster_file, chosen.cluster.devices
    for name, value in (("--cluster", cluster_file), ("--devices", devices)):
        if value is not None:
            raise click.UsageError(f"cannot combine --clusters with {name}")


def _objective(chosen: CompareOptions) -> Objective:
    """Return the objective under which placers are compared, without source rates."""
    if isinstance(chosen.throughput.rates, Mapping):
        of_graph = "each graph of the dataset may state its own source_rates"
        raise click.UsageError(f"--source-rate: compare takes rates of all sources; {of_graph}")
    rates = chosen.throughput.changes
    kind = Asked.of(chosen.objective, chosen.makespan, chosen.seed).over() or Throughput()
    makespan_options.refuse_rates(kind, rates)
    kind = kind.with_changes(**{**rates, "source_rate": None})
    if chosen.semantics is not None:
        makespan_options.require(kind, "semantics")
    return kind


def _cases(chosen: CompareOptions) -> Cases:
    """Read the graphs, and the cluster of each."""
    graphs, lost = open_dataset(chosen.dataset), inputs.the_losses(chosen.lost)
    if chosen.clusters_file is None:
        cluster = Cluster.of(inputs.the_cluster(chosen.cluster))
        return Cases.of(graphs, lost.cluster(cluster) if lost else cluster)
    clusters = _clusters(chosen.clusters_file, len(graphs), chosen.cross, lost)
    return Cases.of(graphs, clusters=clusters, cross=chosen.cross)


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
