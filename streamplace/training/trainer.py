"""Training into a folder: a run, its lock, and answers to interruptions."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import torch

from streamplace.errors import FormatError
from streamplace.execution.backends import LOCAL, Backend
from streamplace.execution.parallel import cpu_count
from streamplace.files.folder_lock import held
from streamplace.problem.graph import StreamGraph
from streamplace.training.algorithms.base import Record
from streamplace.training.config import TrainConfig
from streamplace.training.distributed import Workers
from streamplace.training.interruptions import interruptions
from streamplace.training.learner import StageInterruptedError
from streamplace.training.run import Run, Trained


def train(
    graphs: Sequence[StreamGraph],
    config: TrainConfig,
    folder: Path,
    *,
    dataset: str = "",
    resume: bool = False,
    jobs: int | None = None,
    backend: Backend = LOCAL,
    on_step: Callable[[Record], None] = lambda record: None,
) -> Trained:
    """Train a policy into a folder.

    Parameters
    ----------
    folder
        Gets ``config.json``, ``log.jsonl``, ``checkpoint.safetensors`` and ``policy.safetensors``.
    dataset
        The name of the graphs on the card of the weights.
    resume
        Whether to go on from the folder's checkpoint, bit for bit on the same number of threads.
    jobs, backend
        Processes for a teacher's placements, and where they run; no result depends on them.
    on_step
        Called with the figures of every step, which are those of the log.

    Raises
    ------
    StreamplaceError
        If graphs, config or checkpoint are wrong, before anything starts; if another process trains
        into the folder.
    TrainingError
        If gradients stop being finite.
    """
    threads = torch.get_num_threads()
    with Workers.of_torchrun() as workers, ExitStack() as later:
        _hold(folder, workers, later)
        try:
            torch.set_num_threads(config.run.threads or max(1, cpu_count() // workers.here))
            run = Run.start(
                graphs, config, folder, dataset, resume, workers, jobs=jobs, backend=backend
            )
            try:
                with interruptions(run.loop.learner.stop):
                    return _go(run, on_step)
            finally:
                run.close()
        finally:
            torch.set_num_threads(threads)


def _hold(folder: Path, workers: Workers, later: ExitStack) -> None:
    """Keep other runs out of the folder until later; all processes of this one learn of a fault."""
    message = ""
    if workers.is_rank_zero:
        try:
            later.enter_context(held(folder))
        except FormatError as error:
            message = str(error)
    if fault := "".join(workers.gathered(message)):
        raise FormatError(fault)


def _go(run: Run, on_step: Callable[[Record], None]) -> Trained:
    """Do all steps that are left, unless interrupted."""
    try:
        for record in run.steps():
            on_step(record)
            if run.loop.learner.interrupted():
                return run.finish(interrupted=True)
    except StageInterruptedError:
        return run.finish(interrupted=True)
    return run.finish(interrupted=False)
