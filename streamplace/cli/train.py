"""The command `train`: training of policies."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from streamplace.cli import options, param_types, printing
from streamplace.cli.command import argument, command, group, option
from streamplace.cli.inputs import naming_the_default, read_list
from streamplace.cli.output_files import refuse_folder, weights_of
from streamplace.errors import ConfigError, StreamplaceError, TrainingError, reworded
from streamplace.files import read_cluster, read_dataset
from streamplace.files.training_logs import read_log
from streamplace.training.config import config_names, read_config, with_seed
from streamplace.training.measuring.measurements import MEASUREMENTS
from streamplace.util.extras import check_learn

CURVES = "curves.png"
INTERVAL_S = 10.0  # seconds between lines
FIGURES = ("loss", "reward", "entropy", "gap", "validation")


@dataclass(frozen=True)
class TrainOptions(options.Printed):
    """The options of `train`."""

    dataset: str = argument(type=param_types.GRAPH)
    config: str = option(
        "--config",
        required=True,
        type=param_types.CONFIG,
        metavar="NAME|FILE",
        help="Training configuration: one that comes with streamplace (best; paper, the published "
        "recipe; b, b-f1, b-f1-f2, the paper's ablations; placeto, placeto-stream; giph, "
        "giph-makespan, giph-stream; best-makespan; doppler, doppler-stream; hsdag, hsdag-stream; "
        "or rnn), a .toml file, or a run's config.json.",
    )
    output: str = option(
        "-o",
        type=param_types.FILE,
        required=True,
        metavar="RUN",
        help="Run folder to write; created if missing.",
    )
    cluster_file: str | None = options.file(
        "--cluster",
        "Cluster on which all graphs are trained, instead of those of --config.",
    )
    clusters_file: str | None = options.clusters(
        "for the graphs: graph i is trained on cluster i, not on those of --config."
    )
    measure: str | None = option(
        "--measure",
        type=param_types.MEASURE,
        metavar="MODULE:CLASS",
        help="What measures running times for stages with the key measurements: your own, as "
        "MODULE:CLASS[:OPTION=VALUE…], or a name that an installed package registers.  [default: "
        "that of --config]",
    )
    resume: bool = option(
        "--resume", is_flag=True, help="Continue from the checkpoint in the run folder."
    )
    seed: int | None = option(
        "--seed",
        type=param_types.Whole(0),
        metavar="N",
        help="Seed of all random choices.  [default: the configuration's]",
    )
    objective: None = options.no_objective("--config says for which objective a policy is trained")
    workers: options.Workers = group(options.Workers)


@command(TrainOptions)
def train(chosen: TrainOptions) -> None:
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
    if chosen.cluster_file is not None and chosen.clusters_file is not None:
        raise click.UsageError("cannot combine --cluster with --clusters")
    settings, workers = read_config(chosen.config), chosen.workers.where
    uses_workers = (
        chosen.workers.jobs is not None
        or chosen.workers.backend != "local"
        or chosen.workers.address is not None
    )
    if uses_workers and not settings.teachers:
        raise click.UsageError(
            f"--jobs, --backend and --address require a stage of imitation; {chosen.config} has "
            "none"
        )
    resumes_with = "" if chosen.seed in (None, settings.run.seed) else f" --seed {chosen.seed}"
    if chosen.seed is not None:
        settings = with_seed(settings, chosen.seed)

    check_learn("train")
    # not before a bad config is refused
    from streamplace.training import distributed, problems, run, trainer  # noqa: PLC0415 - torch

    # --config may be the config.json in RUN, which is not overwritten then
    read_files = (
        chosen.dataset,
        chosen.cluster_file,
        chosen.clusters_file,
        *(file for placer in settings.placers.values() for file in weights_of(placer)),
    )
    refuse_folder("-o", chosen.output, (*run.WRITTEN, MEASUREMENTS, CURVES), read_files)
    graphs = read_dataset(chosen.dataset)
    clusters = (
        None if chosen.clusters_file is None else read_list(chosen.clusters_file, len(graphs))
    )
    if chosen.cluster_file is not None:
        clusters = [read_cluster(chosen.cluster_file)] * len(graphs)
    is_first = distributed.is_rank_zero()
    if is_first:
        printing.print_note(problems.unused_times(graphs, settings.problems, clusters))
    progress = TrainingProgress([(stage.algorithm, stage.epochs) for stage in settings.stage])
    with (
        naming_the_default(clusters is None, which="those of --config"),
        _of(chosen.config, trainer.RESUME, resumes_with),
    ):
        trained = trainer.train(
            graphs,
            settings,
            Path(chosen.output),
            dataset=chosen.dataset,
            clusters=clusters,
            resume=chosen.resume,
            measure=chosen.measure,
            jobs=chosen.workers.jobs,
            backend=workers,
            on_step=progress if is_first else lambda record: None,
        )
    if is_first:
        _draw(chosen.output)
    if trained.interrupted:
        if is_first:
            stopped = f"interrupted after step {trained.steps}"
            click.echo(f"streamplace: {stopped}; {trainer.RESUME}{resumes_with}", err=True)
        raise SystemExit(130)
    if not is_first:
        return
    if chosen.as_json:
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
        where = f"config {config}" if config in config_names() else config
        raise reworded(error, f"{where}: {message}") from None


def _draw(run: str) -> None:
    """Draw the run's curves; if that fails, the run still succeeds."""

    from streamplace.plots.training_curves import draw_curves  # noqa: PLC0415 - loads matplotlib

    try:
        draw_curves(Path(run) / CURVES, {run: read_log(run)})
    except StreamplaceError as error:
        click.echo(f"streamplace: cannot draw the curves: {error}", err=True)


class TrainingProgress:
    """A line every 10 s and one after each epoch, with the estimated time left.

    Parameters
    ----------
    stages
        Algorithm and number of epochs of each stage.
    """

    def __init__(self, stages: Sequence[tuple[str, int]]) -> None:
        self._algorithms = [name for name, epochs in stages for _ in range(epochs)]
        self._started = self._last = time.monotonic()
        self._first: tuple[float, float] | None = None

    def __call__(self, record: dict[str, float | int]) -> None:
        """Report the record of a step, as `training.loop` makes it."""
        now, done = time.monotonic(), float(record["progress"])
        if self._first is None:  # do not count the time for reading graphs and for a teacher
            self._first = now, done
        if now - self._last < INTERVAL_S and "validation" not in record:
            return
        self._last = now
        number = int(record["epoch"])
        algorithm = self._algorithms[number]
        epoch = f"{algorithm}, epoch {number + 1} of {len(self._algorithms)}"
        where = [f"{now - self._started:6.0f} s", epoch, f"step {record['step']}"]
        figures = [f"{name} {record[name]:.4f}" for name in FIGURES if name in record]
        printing.print_note("  ".join([*where, *figures, *self._left(now, done)]))

    def _left(self, now: float, done: float) -> list[str]:
        """Return the time left, estimated from the steps since this process's first one."""
        if self._first is None or done >= 1 or done <= self._first[1]:
            return []
        started, before = self._first
        seconds = (now - started) * (1 - done) / (done - before)
        return [f"{_duration(seconds)} left"]


def _duration(seconds: float) -> str:
    """Return a duration as text, such as ``2 h 05 min``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
