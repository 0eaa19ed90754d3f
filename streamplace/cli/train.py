"""The command that trains a policy."""

import click

from streamplace.cli import options, param_types

CURVES = "curves.png"


@click.command()
@click.argument("dataset", type=param_types.GRAPH)
@click.option(
    "--config",
    required=True,
    type=param_types.CONFIG,
    metavar="NAME|FILE",
    help="best, paper, b, …, a .toml, or a run's config.json.",
)
@click.option(
    "-o",
    "output",
    callback=options.file_name,
    type=param_types.FILE,
    required=True,
    metavar="RUN",
    help="Folder.",
)
@click.option("--resume", is_flag=True, help="Go on from the folder's checkpoint.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed  [default: the config's]")
@options.processes
@options.as_json
@options.quiet
def train(
    dataset: str,
    config: str,
    output: str,
    resume: bool,
    seed: int | None,
    jobs: int | None,
    backend: str,
    address: str | None,
    as_json: bool,
) -> None:
    """Train a policy on the graphs of DATASET.

    Ctrl-C saves; --resume goes on bit for bit. RUN gets config.json, log.jsonl,
    checkpoint.safetensors and policy.safetensors, a log for TensorBoard where that is installed,
    and at the end curves.png; the command curves draws it at any time. torchrun starts several
    processes; --jobs, --backend and --address are for the placements of a config's teacher.

    \b
    streamplace generate dream --count 3150 --seed 1 -o dream.jsonl.gz
    streamplace train dream.jsonl.gz --config best -o run
    streamplace place graph.json --placer policy:file=run/policy.safetensors
    """
    from pathlib import Path  # noqa: PLC0415 - a command loads what it needs

    from streamplace.cli.output_files import refuse_folder, weights_of  # noqa: PLC0415
    from streamplace.cli.training_progress import TrainingProgress  # noqa: PLC0415
    from streamplace.execution.backends import Backend  # noqa: PLC0415
    from streamplace.files import read_dataset  # noqa: PLC0415
    from streamplace.training.config import read_config, with_seed  # noqa: PLC0415

    wanted, placing = read_config(config), Backend(backend, address)
    spread = jobs is not None or backend != "local" or address is not None
    if spread and not wanted.teachers:
        raise click.UsageError(f"--jobs, --backend and --address: {config} has no teacher's stage")
    if seed is not None:
        wanted = with_seed(wanted, seed)

    # a bad config is refused before torch is loaded
    from streamplace.training.distributed import is_rank_zero  # noqa: PLC0415
    from streamplace.training.run import WRITTEN  # noqa: PLC0415
    from streamplace.training.trainer import train as run  # noqa: PLC0415

    # the config may be the run's own config.json, which then stays as it is
    inputs = (dataset, *(file for teacher in wanted.teachers for file in weights_of(teacher)))
    refuse_folder("-o", output, (*WRITTEN, CURVES), inputs)
    progress = TrainingProgress([(stage.algorithm, stage.epochs) for stage in wanted.stage])
    trained = run(
        read_dataset(dataset),
        wanted,
        Path(output),
        dataset=dataset,
        resume=resume,
        jobs=jobs,
        backend=placing,
        on_step=progress if is_rank_zero() else lambda record: None,
    )
    if is_rank_zero():
        _draw(output)
    if trained.interrupted:
        if is_rank_zero():
            message = f"streamplace: interrupted after step {trained.steps}; go on with --resume"
            click.echo(message, err=True)
        raise SystemExit(130)
    if not is_rank_zero():
        return
    if as_json:
        options.print_json(trained.to_dict())
    else:
        click.echo(f"{trained.policy}: {trained.steps} steps, parameters {trained.parameter_hash}")


def _draw(run: str) -> None:
    """Draw the run's curves; a picture that fails does not make the run fail."""
    from pathlib import Path  # noqa: PLC0415 - see train

    from streamplace.errors import StreamplaceError  # noqa: PLC0415
    from streamplace.files.training_logs import read_log  # noqa: PLC0415
    from streamplace.plots.training_curves import draw_curves  # noqa: PLC0415

    try:
        draw_curves(Path(run) / CURVES, {run: read_log(run)})
    except StreamplaceError as error:
        click.echo(f"streamplace: the curves are not drawn: {error}", err=True)
