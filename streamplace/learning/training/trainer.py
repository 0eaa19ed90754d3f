"""Training into a folder: the run, the folder's lock, and interruptions."""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

import torch

from streamplace.errors import FormatError, StreamplaceError, TrainingError, UsageError
from streamplace.execution.backends import LOCAL, Backend
from streamplace.execution.parallel import cpu_count
from streamplace.files.writing import held
from streamplace.learning.training.algorithms.base import Record
from streamplace.learning.training.config import TrainConfig, read_config
from streamplace.learning.training.distributed import Workers
from streamplace.learning.training.learner import StageInterruptedError
from streamplace.learning.training.measuring.measure import Measure, measuring
from streamplace.learning.training.measuring.measurements import MeasuringError
from streamplace.learning.training.run import Run, Trained, check_start
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.util.checks import check_type

RESUME = "resume with --resume"


def train(
    graphs: Sequence[StreamGraph],
    config: TrainConfig | str,
    folder: str | Path,
    *,
    dataset: str = "",
    clusters: Sequence[Cluster] | None = None,
    resume: bool = False,
    measure: str | Measure | None = None,
    jobs: int | None = None,
    backend: Backend = LOCAL,
    on_step: Callable[[Record], None] = lambda record: None,
) -> Trained:
    """Train a policy into a folder.

    Parameters
    ----------
    config
        A configuration, or what `read_config` reads: the name of one that comes with streamplace,
        such as ``best``, or of a file.
    folder
        Run folder for ``config.json``, ``log.jsonl``, ``checkpoint.safetensors`` and
        ``policy.safetensors``.
    dataset
        Name of the dataset, recorded on the card of the weights.
    clusters
        The cluster of each graph; None: those of the config.
    resume
        Whether to resume from the folder's checkpoint; on the CPU and with the same number of
        threads, the result is bit for bit that of an uninterrupted run.
    measure
        Measures running times for stages with `measurements`: ``module:Class``, perhaps with
        options, which is made before training and closed at the end, or an object, which is not
        closed; None: the one that the config names.
    jobs, backend
        Number of processes for a teacher's placements, and where they run; results do not depend on
        them.
    on_step
        Called with the metrics of every step, as written to the log.

    Raises
    ------
    StreamplaceError
        If graphs, config or checkpoint are wrong, before training starts, or if another process
        trains into the folder.
    TrainingError
        If gradients stop being finite, a measurement fails, or a measure cannot be closed. The
        steps before a failed measurement are saved.
    """
    config = read_config(config) if isinstance(config, str) else config
    instead = "or the name of one, or of a file"
    check_type("train: config", config, TrainConfig, UsageError, instead)
    graphs = _graphs(graphs)
    folder = Path(folder)
    threads = torch.get_num_threads()
    with Workers.of_torchrun() as workers, ExitStack() as stack:
        _lock(folder, workers, stack)
        try:
            torch.set_num_threads(config.run.threads or max(1, cpu_count() // workers.local_count))
            check_start(graphs, config, folder, resume)  # before a measure starts a system
            opening = partial(measuring, from_config=config.run.measure, processes=workers.count)
            named = stack.enter_context(opening(config.stage, measure))
            start = partial(Run.start, clusters=clusters, jobs=jobs, backend=backend)
            run = start(graphs, config, folder, dataset, resume, workers, measure=named)
            try:
                with interruptions(run.loop.learner.stop):
                    return _finish(run, on_step)
            finally:
                run.close()
        finally:
            torch.set_num_threads(threads)


def _graphs(source: Sequence[StreamGraph]) -> Sequence[StreamGraph]:
    """Return graphs from a caller; those of a dataset are read, and so valid."""
    if isinstance(source, StreamGraph):
        return [source]
    found = list(source) if isinstance(source, Iterator) else source
    wrong = isinstance(found, list | tuple) and not all(isinstance(g, StreamGraph) for g in found)
    if wrong or isinstance(found, str | Path):
        raise UsageError("train: graphs must be StreamGraph objects; read_dataset reads files")
    if not len(found):
        raise UsageError("train: needs at least one graph")
    return found


def _lock(folder: Path, workers: Workers, stack: ExitStack) -> None:
    """Lock the folder against other runs until the stack closes; all processes raise on failure."""
    message = ""
    if workers.is_rank_zero:
        try:
            stack.enter_context(held(folder))
        except FormatError as error:
            message = str(error)
    if fault := "".join(workers.gathered(message)):
        raise FormatError(fault)


def _finish(run: Run, on_step: Callable[[Record], None]) -> Trained:
    """Run the remaining steps, or stop when interrupted."""
    try:
        for record in run.steps():
            on_step(record)
            if run.loop.learner.interrupted():
                return run.finish(interrupted=True)
    except StageInterruptedError:
        return run.finish(interrupted=True)
    except MeasuringError as error:
        if not (steps := run.loop.position.step):
            raise
        run.save()
        error.advise(f"stopped after step {steps}; {RESUME}")
        raise
    except TrainingError:  # the step has left traces: the last checkpoint stays
        raise
    except StreamplaceError as error:
        steps = run.loop.position.step
        was_logged = steps > 0 and run.logged == steps
        if not was_logged or run.workers.count > 1:  # others may be within a step
            raise
        with suppress(StreamplaceError):  # saving may be what failed
            run.save()
            saved = f"the run is saved after step {steps}, and --resume needs the same config"
            error.advise(saved)
        raise
    return run.finish(interrupted=False)


@contextmanager
def interruptions(stop: threading.Event) -> Iterator[None]:
    """Set an event on Ctrl-C or SIGTERM, so that the current step is finished and saved.

    Only the main thread receives signals; in any other thread the event is never set.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(s, lambda number, frame: stop.set()) for s in signals]
    try:
        yield
    finally:
        for s, handler in zip(signals, before, strict=True):
            signal.signal(s, handler)
