"""The command `plan`: the number of devices that a graph needs."""

import click

from streamplace.cli import options, param_types


@click.command()
@click.argument("graph", type=param_types.GRAPH)
@options.cluster()
@options.losses
@options.constraints
@options.source_rates(several="with several, the plan is for the highest")
@options.model(engine=False)
@options.target_utilisation()
@click.option(
    "--most",
    type=param_types.Whole(1),
    metavar="N",
    help="Largest number of devices to try.  [default: the number in the cluster; if these cannot "
    "keep up with the source rate, up to 64, as long as more devices help]",
)
@options.time_limit("Seconds of search for each number of devices.  [default: 1]")
@click.option(
    "--plot",
    callback=options.file_name,
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
    time_limit: float | None,
    plot: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Find how many devices sustain a graph's source rate.

    The table shows the source rate (tuples/s) that 1, 2, … devices sustain. The cluster
    defines the device type and the network; its devices must all be equal.

    \b
    Examples:
    streamplace plan graph.json --source-rate 2e4 --devices 5x2500
    streamplace plan graph.json --target-utilisation 0.7 --plot plan.png
    """
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415
    from streamplace.cli.terminal import print_result  # noqa: PLC0415
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files import read_constraints, read_graph  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.plots.formats import kind_of  # noqa: PLC0415
    from streamplace.problem.cluster import Cluster  # noqa: PLC0415
    from streamplace.workflows import plan as workflow  # noqa: PLC0415

    if plot is not None:  # before anything runs
        kind_of(plot)
        check_targets({"--plot": plot}, (graph, cluster_file, constraints_file))
    with working("reading"):
        read = read_graph(graph)
        constraints = None if constraints_file is None else read_constraints(constraints_file)
        cluster = options.the_cluster(cluster_file, devices)
    if lost := options.the_losses(without, slow):
        cluster = lost.cluster(Cluster.of(cluster))
        with located(constraints_file or name_of(graph)):
            constraints = lost.constraints(constraints or read.constraints)
    with working("planning"), located(constraints_file or name_of(graph)):
        found = workflow.plan(
            read,
            cluster,
            source_rate=None if source_rates is None else max(source_rates),
            constraints=constraints,
            model=model,  # type: ignore[arg-type]  # one of MODELS
            target_utilisation=target_utilisation,
            most=most,
            seconds=time_limit,
            seed=seed,
        )
    if plot is not None:
        from streamplace.plots.plan import draw_plan  # noqa: PLC0415 - heavy

        draw_plan(plot, found)
    if as_json:
        options.print_json(found.to_dict())
    else:
        print_result(found)
