"""The command `compare`: comparison of placers over a dataset."""

import click

from streamplace.cli import options, param_types
from streamplace.plots.formats import KINDS

NOTE = "vs metis: share of graphs better (+) and worse (-)"


@click.command()
@click.argument("dataset", type=param_types.GRAPH)
@click.option(
    "--placers",
    type=param_types.PLACER,
    default="metis,metis-oracle,fuser,auto",
    show_default=True,
    metavar="A[,B…]",
    help="Placers to compare, each NAME[:OPTION=VALUE…]; `streamplace place --help` lists them.",
)
@options.cluster()
@options.losses
@options.source_rates("each graph's own", "with several, the comparison is repeated for each")
@options.model()
@options.target_utilisation()
@options.objective()
@click.option(
    "-o",
    "folder",
    callback=options.file_name,
    type=param_types.FILE,
    metavar="DIR",
    help="Folder to write results, tables and plots into; created if missing.",
)
@click.option(
    "--plots",
    type=param_types.Choice((*KINDS, "none")),
    help="File format of the plots in DIR.  [default: png]",
)
@options.processes
@options.common
def compare(
    dataset: str,
    placers: str,
    cluster_file: str | None,
    devices: str | None,
    without: str | None,
    slow: str | None,
    source_rates: tuple[float, ...] | None,
    model: str | None,
    target_utilisation: float | None,
    objective: str | None,
    folder: str | None,
    plots: str | None,
    jobs: int | None,
    backend: str,
    address: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Compare placers over the graphs of a dataset.

    DATASET is a file or a folder of graphs, or dataset:real for those that come with streamplace.
    The table shows relative throughput (throughput / source rate) over the graphs.

    \b
    Examples:
    streamplace compare dataset:real --devices 3x2500 --placers metis,fuser,greedy,auto
    streamplace compare dream.jsonl.gz --placers metis,metis-oracle --source-rate 1e4,2e4
    streamplace compare dataset:real -o results --plots pdf
    streamplace compare dream.jsonl.gz --backend ray --address 10.0.0.1:6379

    \b
    Files in DIR:
    compare.json              what --json prints
    table.csv                 the printed table
    graphs.csv                a row per graph, placer and source rate
    by_rate.csv, .md, .tex    a row per placer, a column per source rate and statistic
    throughput.png            distribution of relative throughput
    devices.png               number of devices used
    """
    if folder is None and plots is not None:
        raise click.UsageError("--plots requires -o")
    from contextlib import nullcontext  # noqa: PLC0415 - loaded when the command runs

    from streamplace.cli.numba_loading import load_numba  # noqa: PLC0415

    load_numba()
    from streamplace.cli.output_files import refuse_folder, weights_of  # noqa: PLC0415
    from streamplace.cli.terminal import console, print_result  # noqa: PLC0415
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
    from streamplace.workflows.comparison import REFERENCE  # noqa: PLC0415

    pictures = None if plots == "none" else plots or "png"
    if folder is not None:
        inputs = (dataset, cluster_file, *weights_of(placers))
        refuse_folder("-o", folder, names_of(pictures), inputs)
    workers = Backend(backend, address)
    kind = options.the_objective(objective) or Throughput()
    with nullcontext() if folder is None else held(folder):  # before anything runs
        with working("reading"):
            graphs = open_dataset(dataset)
        cluster = options.the_cluster(cluster_file, devices)
        if lost := options.the_losses(without, slow):
            cluster = lost.cluster(Cluster.of(cluster))
        with located(name_of(dataset)):
            result = workflow.compare(
                graphs,
                placers.split(","),
                source_rates or (None,),
                cluster=cluster,
                objective=kind.with_changes(
                    model=model,  # type: ignore[arg-type]  # one of MODELS
                    target_utilisation=target_utilisation,
                ),
                dataset=dataset,
                seed=seed,
                jobs=jobs,
                backend=workers,
            )
        if folder is not None:
            for stale in save_report(folder, result, pictures):
                options.print_note(f"removed {stale}, a picture of an earlier comparison")
    if as_json:
        options.print_json(result.to_dict())
    else:
        print_result(result)
        if REFERENCE in result.placers:
            console().print(NOTE)
