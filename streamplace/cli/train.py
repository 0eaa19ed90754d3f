"""The command `train`: training of policies."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from streamplace.cli import checks, options, param_types, printing
from streamplace.cli.cluster_lists import clusters_option, read_list
from streamplace.errors import ConfigError, TrainingError, reworded

CURVES = "curves.png"


@click.command()
@click.argument("dataset", type=param_types.GRAPH)
@click.option(
    "--config",
    required=True,
    type=param_types.CONFIG,
    metavar="NAME|FILE",
    help="Training configuration: one that comes with streamplace (best; paper, the published "
    "recipe; b, b-f1, b-f1-f2, the paper's ablations; placeto, placeto-stream; giph, "
    "giph-makespan, giph-stream; best-makespan; doppler, doppler-stream; hsdag, hsdag-stream; or "
    "rnn), a .toml file, or a run's config.json.",
)
@click.option(
    "-o",
    "output",
    callback=checks.file_name,
    type=param_types.FILE,
    required=True,
    metavar="RUN",
    help="Run folder to write; created if missing.",
)
@click.option(
    "--cluster",
    "cluster_file",
    callback=checks.file_name,
    type=param_types.FILE,
    metavar="FILE",
    help="Cluster on which all graphs are trained, instead of those of --config.",
)
@clusters_option("for the graphs: graph i is trained on cluster i, not on those of --config.")
@click.option(
    "--measure",
    type=param_types.MEASURE,
    metavar="MODULE:CLASS",
    help="What measures running times for stages with the key measurements: your own, as "
    "MODULE:CLASS[:OPTION=VALUE…], or a name that an installed package registers.  [default: that "
    "of --config]",
)
@click.option("--resume", is_flag=True, help="Continue from the checkpoint in the run folder.")
@click.option(
    "--seed",
    type=param_types.Whole(0),
    metavar="N",
    help="Seed of all random choices.  [default: the configuration's]",
)
@options.no_objective("--config says for which objective a policy is trained")
@options.processes
@options.as_json
@options.quiet
def train(
    dataset: str,
    config: str,
    output: str,
    cluster_file: str | None,
    clusters_file: str | None,
    measure: str | None,
    resume: bool,
    seed: int | None,
    jobs: int | None,
    backend: str,
    address: str | None,
    as_json: bool,
) -> None:
    """Train a placement policy on the graphs of a dataset.

    Ctrl-C saves a checkpoint and stops; --resume continues, and the results are bit for bit
    the same as those of an uninterrupted run on the CPU. RUN contains config.json, log.jsonl,
    checkpoint.safetensors, policy.safetensors, a TensorBoard log if TensorBoard is installed, and
    at the end curves.png (`streamplace curves` plots it at any time). Use torchrun to train with
    several processes.

    A stage of imitation has a teacher: a placer whose placements the policy learns to imitate. They
    are computed at the start of the stage. --jobs, --backend and --address distribute only this
    work.

    A stage with the key measurements learns from measured running times. RUN then also contains
    measurements.jsonl and, as placement files, the fastest placements (fastest/0.json, …).

    \b
    Examples:
    streamplace generate dream --count 3150 --seed 1 -o dream.jsonl.gz
    streamplace train dream.jsonl.gz --config best -o run
    streamplace place graph.json --placer policy:file=run/policy.safetensors
    """
    from pathlib import Path  # noqa: PLC0415 - loaded when the command runs

    from streamplace.cli.default_cluster import naming_the_default  # noqa: PLC0415
    from streamplace.cli.output_files import refuse_folder, weights_of  # noqa: PLC0415
    from streamplace.cli.training_progress import TrainingProgress  # noqa: PLC0415
    from streamplace.execution.backends import Backend  # noqa: PLC0415
    from streamplace.files import read_cluster, read_dataset  # noqa: PLC0415
    from streamplace.training.config import read_config, with_seed  # noqa: PLC0415
    from streamplace.util.extras import check_learn  # noqa: PLC0415

    if cluster_file is not None and clusters_file is not None:
        raise click.UsageError("cannot combine --cluster with --clusters")
    settings, workers = read_config(config), Backend(backend, address)
    uses_workers = jobs is not None or backend != "local" or address is not None
    if uses_workers and not settings.teachers:
        raise click.UsageError(
            f"--jobs, --backend and --address require a stage of imitation; {config} has none"
        )
    again = "" if seed in (None, settings.run.seed) else f" --seed {seed}"  # needed to resume
    if seed is not None:
        settings = with_seed(settings, seed)

    check_learn("train")
    # imported here, so that a bad config is refused before torch is loaded
    from streamplace.training.distributed import is_rank_zero  # noqa: PLC0415
    from streamplace.training.measuring.measurement_log import MEASUREMENTS  # noqa: PLC0415
    from streamplace.training.problems import unused_times  # noqa: PLC0415
    from streamplace.training.run import WRITTEN  # noqa: PLC0415
    from streamplace.training.trainer import RESUME  # noqa: PLC0415
    from streamplace.training.trainer import train as run  # noqa: PLC0415

    # --config may be the config.json in RUN, which is not overwritten then
    inputs = (
        dataset,
        cluster_file,
        clusters_file,
        *(file for placer in settings.placers.values() for file in weights_of(placer)),
    )
    refuse_folder("-o", output, (*WRITTEN, MEASUREMENTS, CURVES), inputs)
    graphs = read_dataset(dataset)
    clusters = None if clusters_file is None else read_list(clusters_file, len(graphs))
    if cluster_file is not None:
        clusters = [read_cluster(cluster_file)] * len(graphs)
    if is_rank_zero():
        printing.print_note(unused_times(graphs, settings.problems, clusters))
    progress = TrainingProgress([(stage.algorithm, stage.epochs) for stage in settings.stage])
    with (
        naming_the_default(clusters is None, which="those of --config"),
        _of(config, RESUME, again),
    ):
        trained = run(
            graphs,
            settings,
            Path(output),
            dataset=dataset,
            clusters=clusters,
            resume=resume,
            measure=measure,
            jobs=jobs,
            backend=workers,
            on_step=progress if is_rank_zero() else lambda record: None,
        )
    if is_rank_zero():
        _draw(output)
    if trained.interrupted:
        if is_rank_zero():
            stopped = f"interrupted after step {trained.steps}"
            click.echo(f"streamplace: {stopped}; {RESUME}{again}", err=True)
        raise SystemExit(130)
    if not is_rank_zero():
        return
    if as_json:
        printing.print_json(trained.to_dict())
    else:
        summary = f"{trained.steps} steps, parameter hash {trained.parameter_hash}"
        click.echo(f"wrote {trained.policy}: {summary}")


@contextmanager
def _of(config: str, advice: str, again: str) -> Iterator[None]:
    """Name the config in the messages of errors that state no more than that it is the config.

    Advice to resume is followed by the options that are needed again.
    """
    try:
        yield
    except TrainingError as error:
        if not (again and str(error).endswith(advice)):
            raise
        raise reworded(error, f"{error}{again}") from None
    except ConfigError as error:
        before, place, message = str(error).partition("config: ")
        if before or not place:
            raise
        from streamplace.training.config import config_names  # noqa: PLC0415 - see train

        where = f"config {config}" if config in config_names() else config
        raise reworded(error, f"{where}: {message}") from None


def _draw(run: str) -> None:
    """Draw the run's curves; if that fails, the run still succeeds."""
    from pathlib import Path  # noqa: PLC0415 - see train

    from streamplace.errors import StreamplaceError  # noqa: PLC0415
    from streamplace.files.training_logs import read_log  # noqa: PLC0415
    from streamplace.plots.training_curves import draw_curves  # noqa: PLC0415

    try:
        draw_curves(Path(run) / CURVES, {run: read_log(run)})
    except StreamplaceError as error:
        click.echo(f"streamplace: cannot draw the curves: {error}", err=True)
