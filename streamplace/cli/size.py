"""The command `size`: numbers of instances of operators, and the devices that they need."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from streamplace.cli import checks, from_options, options, param_types, printing
from streamplace.cli.latency_limit import latency_limit

if TYPE_CHECKING:
    from streamplace.problem.graph import StreamGraph
    from streamplace.workflows.latency.limit import LatencyLimit


@click.command()
@click.argument("graph", type=param_types.GRAPH, required=False)
@click.option(
    "--job-file",
    callback=checks.file_name,
    type=param_types.FILE,
    metavar="FILE",
    help="Jobs that share the cluster, instead of GRAPH, as for place. All of them get their whole "
    "source rates.",
)
@options.cluster()
@options.losses
@options.constraints
@options.source_rates(several="with several, the size is for the highest")
@options.model(engine=False)
@options.target_utilisation()
@options.no_objective(
    "size finds the instances that sustain a source rate, and serves no other objective"
)
@click.option(
    "--minimise",
    type=param_types.Choice(("machines", "money", "instances")),
    default="machines",
    show_default=True,
    help="machines: the number of devices; money: the sum of their prices in the cluster file; "
    "instances: the number of instances, on the whole cluster.",
)
@click.option(
    "--at",
    callback=checks.rates,
    metavar="R1[,R2…]",
    help="Source rates in tuples/s to size for, one after another, instead of --source-rate.",
)
@click.option(
    "--restart",
    type=param_types.NUMBER,
    callback=checks.at_least_0,
    metavar="S",
    help="Seconds for which a restart stops the job; capacity to catch up with them is added.  "
    "[default: no restarts; 300 with --catch-up]",
)
@click.option(
    "--catch-up",
    type=param_types.NUMBER,
    callback=checks.above_0,
    metavar="S",
    help="Seconds within which the tuples that wait after a restart are worked off.  "
    "[default: 1800 with --restart]",
)
@click.option(
    "--survive",
    type=param_types.Whole(0, 1),
    default=0,
    show_default=True,
    metavar="0|1",
    help="1: the devices must keep up after the loss of any one of them.",
)
@click.option(
    "--max-latency",
    callback=latency_limit,
    metavar="QUANTITY=TIME",
    help="Limit on the latency of single tuples, such as p99=200ms, p50=0.1s or mean=50ms. Sizes "
    "for a lower and lower utilisation are tried until simulations confirm one.",
)
@click.option(
    "--resize",
    is_flag=True,
    help="Choose the numbers of instances that the graph states, too.",
)
@options.time_limit("Seconds of search per source rate.  [default: 5]")
@click.option(
    "-o",
    "output",
    callback=checks.file_name,
    type=param_types.FILE,
    metavar="FILE",
    help="Placement file of the instances to write; - is stdout. With --job-file, a name that does "
    "not end in .json is a folder: a placement and a graph per job, and together.json.  "
    "[default: no file]",
)
@click.option(
    "--graph-out",
    callback=checks.file_name,
    type=param_types.FILE,
    metavar="FILE",
    help="Graph file to write, which states the chosen numbers; for simulate and place --start.",
)
@options.common
def size(
    graph: str | None,
    job_file: str | None,
    cluster_file: str | None,
    devices: str | None,
    without: str | None,
    slow: str | None,
    constraints_file: str | None,
    source_rates: tuple[float, ...] | None,
    model: str | None,
    target_utilisation: float | None,
    minimise: str,
    at: tuple[float, ...] | None,
    restart: float | None,
    catch_up: float | None,
    survive: int,
    max_latency: "LatencyLimit | None",
    resize: bool,
    time_limit: float | None,
    output: str | None,
    graph_out: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Find how many instances operators need, and where.

    The numbers of instances of operators that state none, or "parallelism": "free", are chosen
    together with their devices, such that the source rate is sustained. Limits are
    "min_parallelism", "max_parallelism" and "partitions" of operators, one thread per instance, and
    "slots" and "memory_bytes" of devices. The result is a placement of all instances.

    \b
    Examples:
    streamplace size graph.json --source-rate 2e4 --cluster cluster.json
    streamplace size graph.json --target-utilisation 0.7 --minimise money -o placement.json
    streamplace size graph.json --at 1e4,2e4,4e4 --restart 60 --catch-up 600
    streamplace size graph.json --max-latency p99=100ms
    streamplace size --job-file jobs.json --cluster cluster.json -o sizes
    """
    _check_options(source_rates, at, (output, graph_out), as_json=as_json)
    alone = {
        "GRAPH": graph,
        "--without": without,
        "--slow": slow,
        "--constraints": constraints_file,
        "--source-rate": source_rates,
        "--at": at,
    }
    _check_job_file(job_file, alone)
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415
    from streamplace.cli.size_jobs import size_job_file  # noqa: PLC0415
    from streamplace.cli.terminal import print_result  # noqa: PLC0415
    from streamplace.errors import ClusterError, located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files import (  # noqa: PLC0415
        read_constraints,
        read_graph,
        write_dataset,
    )
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.problem.cluster import Cluster  # noqa: PLC0415
    from streamplace.workflows.size import size as sized  # noqa: PLC0415
    from streamplace.workflows.size import sizes  # noqa: PLC0415

    settings: dict[str, Any] = {
        "minimise": minimise,
        "model": model,
        "target_utilisation": target_utilisation,
        "catch_up": catch_up,
        "restart": restart,
        "survive": survive,
        "resize": resize,
        "max_latency": max_latency,
        "seconds": time_limit,
        "seed": seed,
    }
    found: Any
    if job_file is not None:
        found = size_job_file(job_file, cluster_file, devices, (output, graph_out), settings)
    else:
        check_targets(
            {"-o": output, "--graph-out": graph_out}, (graph, cluster_file, constraints_file)
        )
        named = constraints_file or name_of(str(graph))
        with working("reading"):
            constraints = None if constraints_file is None else read_constraints(constraints_file)
            cluster = from_options.the_cluster(cluster_file, devices)
            read = read_graph(str(graph))
        if lost := from_options.the_losses(without, slow):
            lost = lost.of_devices(Cluster.of(cluster))
            cluster = lost.cluster(Cluster.of(cluster))
            with located(named):
                constraints = lost.constraints(constraints or read.constraints)
        settings["constraints"] = constraints
        with (
            working("sizing"),
            located(named),
            located(cluster_file or named, only=ClusterError),
        ):
            if at is not None:
                found = sizes(read, cluster, at, **settings)
            else:
                rate = None if source_rates is None else max(source_rates)
                found = sized(read, cluster, source_rate=rate, **settings)
        _print_notes(read)
        if output is not None:
            found.save(output)
    one = None if at is not None else found if job_file is None else found.whole
    if one is not None and one.latency is not None and one.latency.answer == "unproven":
        printing.print_note(f"latency limit {one.latency.limit}: unproven")
    if graph_out is not None and one is not None:
        write_dataset(graph_out, [one.graph])
    if as_json:
        printing.print_json(found.to_dict())
        return
    print_result(found, to_stderr=output == "-")


def _check_job_file(job_file: str | None, alone: Mapping[str, object]) -> None:
    """Refuse --job-file with options that are for one graph, and no input at all."""
    if job_file is None and alone["GRAPH"] is None:
        raise click.UsageError("missing argument 'GRAPH' or option '--job-file'")
    for name, value in alone.items():
        if job_file is not None and value is not None:
            raise click.UsageError(f"cannot combine --job-file with {name}")


def _check_options(
    source_rates: tuple[float, ...] | None,
    at: tuple[float, ...] | None,
    outputs: tuple[str | None, str | None],
    *,
    as_json: bool,
) -> None:
    """Refuse options that exclude each other."""
    if at is not None and source_rates is not None:
        raise click.UsageError("cannot combine --at with --source-rate")
    for name, output in zip(("-o", "--graph-out"), outputs, strict=True):
        if at is not None and output is not None:
            raise click.UsageError(f"cannot combine --at with {name}: there are several results")
    if [*outputs, "-" if as_json else None].count("-") > 1:
        raise click.UsageError("only one of -o, --graph-out and --json can write to stdout")


def _print_notes(graph: "StreamGraph") -> None:
    """Print what is assumed of a graph."""
    from streamplace.problem.assumptions import without_tuples  # noqa: PLC0415
    from streamplace.workflows.size import SINGLE  # noqa: PLC0415 - slow to load

    printing.print_note(SINGLE if graph.instance_of else "")
    printing.print_note(without_tuples(graph))
