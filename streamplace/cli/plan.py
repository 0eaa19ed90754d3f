"""The command `plan`: the devices that a graph needs."""

import click

from streamplace.cli import checks, from_options, options, param_types, printing


@click.command()
@click.argument("graph", type=param_types.GRAPH)
@options.cluster()
@options.losses
@options.constraints
@options.source_rates(several="with several, the plan is for the highest")
@options.model(engine=False)
@options.target_utilisation()
@options.no_objective(
    "plan finds the throughput that devices sustain, and serves no other objective; "
    "compare --objective makespan --clusters FILE compares clusters by makespan"
)
@click.option(
    "--most",
    type=param_types.Whole(1),
    metavar="N",
    help="Largest number of devices to try.  [default: the number in the cluster; if equal devices "
    "cannot keep up with the source rate, up to 64, as long as more devices help]",
)
@click.option(
    "--survive",
    type=param_types.Whole(0),
    default=0,
    show_default=True,
    metavar="0|1",
    help="1: the devices must keep up after the loss of any one of them.",
)
@options.time_limit(
    "Seconds of search for each number of devices or, if they differ, for all sets of devices "
    "together.  [default: 1; 10]"
)
@click.option(
    "--plot",
    callback=checks.file_name,
    type=param_types.FILE,
    metavar="FILE",
    help="Plot file to write (sustained source rate against number of devices): .png, .svg or "
    ".pdf.",
)
@options.common
def plan(
    graph: str,
    cluster_file: str | None,
    devices: str | None,
    without: str | None,
    slow: str | None,
    constraints_file: str | None,
    source_rates: tuple[float, ...] | None,
    model: str | None,
    target_utilisation: float | None,
    most: int | None,
    survive: int,
    time_limit: float | None,
    plot: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Find the fewest or cheapest devices that sustain a rate.

    If all devices of the cluster are equal, the table shows the source rate (tuples/s) that 1, 2, …
    devices of this kind sustain. Otherwise the result is the cheapest set of the cluster's devices
    that keeps up, by the prices in the cluster file, with a proof or a lower bound on the price.

    \b
    Examples:
    streamplace plan graph.json --source-rate 2e4 --devices 5x2500
    streamplace plan graph.json --target-utilisation 0.7 --plot plan.png
    streamplace plan graph.json --cluster racks.json --survive 1
    """
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415
    from streamplace.cli.terminal import print_command, print_result  # noqa: PLC0415
    from streamplace.errors import ClusterError, located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files import read_constraints, read_graph  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.plots.formats import kind_of  # noqa: PLC0415
    from streamplace.problem.assumptions import without_tuples  # noqa: PLC0415
    from streamplace.problem.cluster import Cluster  # noqa: PLC0415
    from streamplace.problem.counts import expanded  # noqa: PLC0415
    from streamplace.workflows import plan as workflow  # noqa: PLC0415

    if plot is not None:  # before anything runs
        kind_of(plot)
        check_targets({"--plot": plot}, (graph, cluster_file, constraints_file))
    with working("reading"):
        with located(name_of(graph)):
            read = expanded(read_graph(graph))
        constraints = None if constraints_file is None else read_constraints(constraints_file)
        cluster = from_options.the_cluster(cluster_file, devices)
    if lost := from_options.the_losses(without, slow):
        lost = lost.of_devices(Cluster.of(cluster))
        cluster = lost.cluster(Cluster.of(cluster))
        with located(constraints_file or name_of(graph)):
            constraints = lost.constraints(constraints or read.constraints)
    named = constraints_file or name_of(graph)
    of_cluster = located(cluster_file or named, only=ClusterError)
    with working("planning"), located(named), of_cluster:
        found = workflow.plan(
            read,
            cluster,
            source_rate=None if source_rates is None else max(source_rates),
            constraints=constraints,
            model=model,  # type: ignore[arg-type]  # one of MODELS
            target_utilisation=target_utilisation,
            most=most,
            survive=survive,
            seconds=time_limit,
            seed=seed,
        )
    if plot is not None:
        from streamplace.plots.plan import draw_plan  # noqa: PLC0415 - heavy

        draw_plan(plot, found)
    printing.print_note(without_tuples(read))
    if found.unpriced:
        printing.print_note(
            "no device has a price: each counts 1, so that the cheapest are the fewest"
        )
    if as_json:
        printing.print_json(found.to_dict())
        return
    print_result(found)
    if found.cheapest is not None:
        excluded = [*(without.split(",") if without else ()), *found.cheapest.unused]
        print_command(
            "streamplace place",
            graph,
            {
                "--cluster": cluster_file,
                "--devices": devices,
                "--without": ",".join(excluded) or None,
                "--slow": slow,
                "--constraints": constraints_file,
                "--source-rate": f"{found.source_rate:.17g}" if source_rates else None,
                "--model": model,
                "--target-utilisation": target_utilisation,
            },
        )
