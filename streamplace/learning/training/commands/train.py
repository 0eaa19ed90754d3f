"""The command `train`: training of policies."""

import operator
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamplace.cli import options, param_types
from streamplace.cli.command import argument, command, group, option, print_json, print_note
from streamplace.cli.inputs import naming_the_default, read_list
from streamplace.cli.output_files import refuse_folder, weights_of
from streamplace.errors import ConfigError, StreamplaceError
from streamplace.files import read_cluster, read_dataset, write_json
from streamplace.files.reading import STDIO
from streamplace.files.toml import parse_toml
from streamplace.files.training_logs import CHECKPOINT, CONFIG, POLICY, WRITTEN, read_log
from streamplace.learning.policy.tensor_files import read_weights
from streamplace.learning.training.config import (
    TrainConfig,
    config_names,
    read_config,
    steps_of,
    with_seed,
    with_values,
)
from streamplace.learning.training.measuring.measurement_log import MEASUREMENTS
from streamplace.learning.training.seeds import SEEDS, SeedsResult, run_folder, seeds_in
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.util.extras import check_learn, load_drawing, load_learned

if TYPE_CHECKING:
    from streamplace.learning.training.run import Trained

CURVES = "curves.png"
DRAW = "streamplace.pictures.curves:draw_curves"
SET = "--set"
INTERVAL_S = 10.0  # seconds between lines
WEIGHTS = "run.weights"  # the key that --from sets
FIGURES = ("loss", "reward", "entropy", "best", "validation")
OF_PLACERS = "validation_"  # before the name of a placer


@dataclass(frozen=True)
class TrainOptions(options.Printed):
    """The options of `train`."""

    dataset: str | None = argument(type=param_types.GRAPH, required=False, metavar="DATASET|RUN")
    config: str | None = option(
        "--config",
        type=param_types.CONFIG,
        metavar="NAME|FILE",
        help="Training configuration: one that comes with streamplace (best; paper, the published "
        "recipe; paper-as-printed; released, that of its authors' code; b, b-f1, b-f1-f2, the "
        "paper's ablations; placeto, placeto-stream; giph, giph-makespan, giph-stream; "
        "best-makespan; doppler, doppler-stream; hsdag, hsdag-stream; or rnn), a .toml file, or a "
        "run's config.json.  "
        "[with --resume: that of the run]",
    )
    settings: tuple[str, ...] = option(
        "--set",
        multiple=True,
        metavar="KEY=VALUE",
        help="Another value of a key of --config, such as run.held_out=50 or stage[0].epochs=3; "
        "repeatable.",
    )
    weights: str | None = options.file(
        "--from",
        "Weights that training goes on from, such as policy.safetensors of another run; their "
        "shapes must be those of --config.  [default: random ones]",
        "WEIGHTS",
    )
    output: str | None = option(
        "-o",
        type=param_types.FILE,
        metavar="RUN",
        help="Run folder to write; created if missing. Only --resume RUN does without it.",
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
    seeds: int | None = option(
        "--seeds",
        type=param_types.Whole(1, 1000),
        metavar="N",
        help="Train N runs with N successive seeds, in RUN/seed-0, …, and write seeds.json: mean, "
        "95% interval and best.",
    )
    objective: None = options.no_objective("--config says for which objective a policy is trained")
    workers: options.Workers = group(options.Workers)

    @property
    def folder(self) -> Path:
        """The run folder, which is the argument of ``--resume`` without -o."""
        if self.output is None and not (self.resume and self.dataset):
            raise click.UsageError("missing option -o, which only --resume RUN does not need")
        return Path(str(self.dataset if self.output is None else self.output))

    @property
    def resumed(self) -> Path:
        """The folder of the run to resume; of several seeds, the first one's."""
        first = None if self.seeds is None else next(iter(seeds_in(self.folder)), None)
        return self.folder if first is None else run_folder(self.folder, first)

    def named_dataset(self, weights: str) -> str:
        """Return the dataset, by default the one on the card of a file in the run folder."""
        if self.dataset and self.output is not None:
            return self.dataset
        file, known = self.resumed / weights, None
        if self.resume and file.exists():
            known = read_weights(file).card.get("dataset")
        if not isinstance(known, str) or known in ("", STDIO):
            raise click.UsageError("missing argument DATASET, which no run to resume names")
        return known


@command(TrainOptions)
def train(chosen: TrainOptions) -> None:
    """Train a placement policy on the graphs of a dataset.

    Ctrl-C saves a checkpoint and stops; --resume continues with the dataset and config of RUN, and
    the results are bit for bit the same as those of an uninterrupted run on the CPU. RUN contains
    config.json, log.jsonl, checkpoint.safetensors, policy.safetensors, a TensorBoard log if
    TensorBoard is installed, and at the end curves.png (`streamplace curves` plots it at any time).
    Use torchrun to train with several processes.

    A stage of imitation has a teacher: a placer whose placements the policy learns to imitate. They
    are computed at the start of the stage. --jobs, --backend and --address distribute only this
    work.

    A stage with the key measurements learns from measured running times. RUN then also contains
    measurements.jsonl and, as placement files, the fastest placements (fastest/0.json, …).

    \b
    Examples:
    streamplace generate dream --count 3150 --seed 1 -o dream.jsonl.gz
    streamplace train dream.jsonl.gz --config best -o run
    streamplace train --resume run
    streamplace train dream.jsonl.gz --config best --set 'stage[0].epochs=2' --seeds 5 -o runs
    streamplace train other.jsonl.gz --config best --from run/policy.safetensors -o further
    streamplace place graph.json --placer policy:file=run/policy.safetensors
    """
    if chosen.cluster_file is not None and chosen.clusters_file is not None:
        raise click.UsageError("cannot combine --cluster with --clusters")
    if chosen.dataset is None and not chosen.resume:
        raise click.UsageError("missing argument DATASET, which only --resume does not need")
    config, settings = _settings(chosen)
    chosen.workers.where  # noqa: B018 - refuses an address without a backend
    uses_workers = (
        chosen.workers.jobs is not None
        or chosen.workers.backend != "local"
        or chosen.workers.address is not None
    )
    if uses_workers and not settings.teachers:
        raise click.UsageError(
            f"--jobs, --backend and --address require a stage of imitation; {config} has none"
        )
    if chosen.seeds is not None and int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise click.UsageError("--seeds cannot be combined with torchrun; train one seed at a time")
    check_learn("train")
    dataset = chosen.named_dataset(POLICY)
    # --config may be the config.json in RUN, which is not overwritten then
    read_files = (
        dataset,
        chosen.cluster_file,
        chosen.clusters_file,
        *(file for placer in settings.placers.values() for file in weights_of(placer)),
        settings.run.weights,
    )
    folders = _folders(chosen, settings)
    for folder in folders.values():
        refuse_folder("-o", str(folder), (*WRITTEN, MEASUREMENTS, CURVES), read_files)
    graphs = read_dataset(dataset)
    chosen = replace(chosen, dataset=dataset, output=str(chosen.folder))
    clusters = (
        None if chosen.clusters_file is None else read_list(chosen.clusters_file, len(graphs))
    )
    if chosen.cluster_file is not None:
        clusters = [read_cluster(chosen.cluster_file)] * len(graphs)
    if chosen.seeds is None:
        _train_once(chosen, config, settings, chosen.folder, graphs, clusters)
        return
    check_start = load_learned("streamplace.learning.training.run:check_start", "train")
    for folder in folders.values():  # before the first run
        with _of(config, chosen):
            check_start(graphs, settings, folder, _resumes(chosen, folder / CHECKPOINT))
    done = {}
    for seed, folder in folders.items():
        print_note(f"seed {seed}: {folder}")
        own = with_seed(settings, seed)
        done[seed] = _train_once(chosen, config, own, folder, graphs, clusters)
    _aggregate(chosen, folders, done)


def _settings(chosen: TrainOptions) -> tuple[str, TrainConfig]:
    """Return the name of the config and its settings, with --set and --seed applied."""
    config = chosen.config
    if config is None:
        if not chosen.resume:
            raise click.UsageError("missing option --config, which only --resume does not need")
        config = str(chosen.resumed / CONFIG)
        if not os.path.exists(config):
            why = "" if os.path.exists(chosen.folder) else ", since there is no such folder"
            raise click.UsageError(
                f"{chosen.folder}: no run to resume{why}; --config starts a new run"
            )
    settings = read_config(config)
    values = dict(map(_value, chosen.settings))
    if chosen.weights is not None:
        values[WEIGHTS] = chosen.weights
    if values:
        try:
            settings = with_values(settings, values)
        except StreamplaceError as error:
            error.update(origin=SET)
            raise
    return config, settings if chosen.seed is None else with_seed(settings, chosen.seed)


def _value(text: str) -> tuple[str, Any]:
    """Return the key and the value of --set: a value of TOML, or else a text."""
    key, equals, value = text.partition("=")
    if not (equals and key.strip()):
        raise click.UsageError(f"--set: must be KEY=VALUE (got {text!r:.80})")
    try:
        return key.strip(), parse_toml(f"value = {value}")["value"]
    except ValueError:
        return key.strip(), value.strip()


def _folders(chosen: TrainOptions, settings: TrainConfig) -> dict[int, Path]:
    """Return the folder of each run, by seed."""
    first, folder = settings.run.seed, chosen.folder
    if chosen.seeds is None:
        return {first: folder}
    if os.path.exists(folder / CONFIG):
        raise click.UsageError(f"-o {folder}: has a run without --seeds; choose another folder")
    return {seed: run_folder(folder, seed) for seed in range(first, first + chosen.seeds)}


def _resumes(chosen: TrainOptions, checkpoint: Path) -> bool:
    """Return whether to resume a run; of several seeds, some may not have a checkpoint yet."""
    return chosen.resume and (chosen.seeds is None or checkpoint.exists())


def _train_once(
    chosen: TrainOptions,
    config: str,
    settings: TrainConfig,
    folder: Path,
    graphs: Sequence[StreamGraph],
    clusters: Sequence[Cluster] | None,
) -> "Trained":
    """Train or resume one run, and print the result of a single one; exit if it is interrupted."""
    from streamplace.learning.training import (  # noqa: PLC0415 - torch
        baselines,
        distributed,
        problems,
        trainer,
    )

    is_first = distributed.is_rank_zero()
    if is_first:
        print_note(problems.unused_times(graphs, settings.problems, clusters))
    resume, held_out = _resumes(chosen, folder / CHECKPOINT), settings.run.held_out
    names = ", ".join(baselines.PLACERS.values())
    progress = TrainingProgress(
        [(stage.algorithm, stage.epochs) for stage in settings.stage],
        f"those of {names} that suit the objective also place the {held_out} held-out graphs, once"
        if held_out and not resume
        else "",
    )
    with naming_the_default(clusters is None, which="those of --config"), _of(config, chosen):
        trained = trainer.train(
            graphs,
            settings,
            folder,
            dataset=str(chosen.dataset),
            clusters=clusters,
            resume=resume,
            measure=chosen.measure,
            jobs=chosen.workers.jobs,
            backend=chosen.workers.where,
            on_step=progress if is_first else lambda record: None,
        )
    if is_first:
        _draw(folder, [folder])
    if trained.interrupted:
        if is_first:
            stopped = f"interrupted after step {trained.steps}"
            click.echo(f"streamplace: {stopped}; {trainer.RESUME}", err=True)
        raise SystemExit(130)
    if is_first and chosen.seeds is None:
        _print(chosen, trained)
    return trained


def _print(chosen: TrainOptions, trained: "Trained") -> None:
    """Print the result of one run."""
    if chosen.as_json:
        print_json(trained.to_dict())
    else:
        summary = f"{trained.steps} steps, parameter hash {trained.parameter_hash}"
        click.echo(f"wrote {trained.policy}: {summary}")


def _aggregate(
    chosen: TrainOptions, folders: Mapping[int, Path], done: Mapping[int, "Trained"]
) -> None:
    """Write and print what the runs of several seeds reached together."""
    result = SeedsResult.of({seed: read_log(folder) for seed, folder in folders.items()})
    document = {
        **result.to_dict(),
        "policy": str(done[result.best].policy),
        "runs": [trained.to_dict() for trained in done.values()],
    }
    write_json(chosen.folder / SEEDS, document)
    _draw(chosen.folder, list(folders.values()))
    if chosen.as_json:
        print_json(document)
    else:
        click.echo(f"{result}: {done[result.best].policy}")


@contextmanager
def _of(config: str, chosen: TrainOptions) -> Iterator[None]:
    """State where the key of an error comes from: --set, or else the config."""
    try:
        yield
    except ConfigError as error:
        if key := error.fault.option:
            known = config in config_names()
            keys = [steps_of(each) for each, _ in map(_value, chosen.settings)]
            # one contains the other, as run contains run.held_out
            is_set = any(all(map(operator.eq, steps, steps_of(key))) for steps in keys)
            error.update(origin=SET if is_set else f"config {config}" if known else config)
        raise


def _draw(folder: Path, runs: Sequence[Path]) -> None:
    """Draw the curves of runs into a folder; if that fails, the command still succeeds."""
    try:
        load_drawing(DRAW)(folder / CURVES, {str(run): read_log(run) for run in runs})
    except StreamplaceError as error:
        click.echo(f"streamplace: cannot draw the curves: {error}", err=True)


class TrainingProgress:
    """A line every 10 s and one after each epoch, with the estimated time left.

    Parameters
    ----------
    stages
        Algorithm and number of epochs of each stage.
    after_first
        What the end of the first epoch takes longer for, reported after the first step.
    """

    def __init__(self, stages: Sequence[tuple[str, int]], after_first: str = "") -> None:
        self._algorithms = [name for name, epochs in stages for _ in range(epochs)]
        self._after_first = after_first
        self._started = self._last = time.monotonic()
        self._first: tuple[float, float] | None = None

    def __call__(self, record: dict[str, float | int]) -> None:
        """Report the record of a step, as `training.loop` makes it."""
        now, done = time.monotonic(), float(record["progress"])
        if self._first is None:  # do not count the time for reading graphs and for a teacher
            self._first = now, done
            if self._after_first and "validation" not in record:
                print_note(f"at the end of {self._epoch(0)}, {self._after_first}")
        if now - self._last < INTERVAL_S and "validation" not in record:
            return
        self._last = now
        number = int(record["epoch"])
        where = [f"{now - self._started:6.0f} s", self._epoch(number), f"step {record['step']}"]
        names = (*FIGURES, *(name for name in record if name.startswith(OF_PLACERS)))
        figures = [
            f"{name.removeprefix(OF_PLACERS)} {record[name]:.4f}"
            for name in names
            if name in record
        ]
        print_note("  ".join([*where, *figures, *self._left(now, done)]))

    def _epoch(self, number: int) -> str:
        return f"{self._algorithms[number]}, epoch {number + 1} of {len(self._algorithms)}"

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
