"""State shared by the stages of a run: the policy, its problems and the processes."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from streamplace.errors import StreamplaceError, TrainingError
from streamplace.execution.backends import LOCAL, Backend
from streamplace.policy.base import AnyPolicy
from streamplace.policy.encoded import Batch, Encoded
from streamplace.problem.problem import Problem
from streamplace.training.distributed import Workers
from streamplace.training.measuring.measurements import Measurements
from streamplace.util.arrays import Ints


class StageInterruptedError(Exception):
    """A stage was interrupted before its first step or within a step, which left no trace."""


@dataclass(frozen=True, eq=False)
class Learner:
    """A policy in training.

    Attributes
    ----------
    encoded
        All problems, encoded for the policy; steps refer to them by number.
    own
        Numbers of the problems that this process learns from.
    seed
        Seed of the run; all random choices derive from it.
    jobs, backend
        Number of processes for a teacher's placements, and where they run; results do not depend on
        them.
    measurements
        Measured running times; None: the run measures none.
    stop
        Set when the run is interrupted.
    evaluations
        (P,) number of placements of each problem that this process scored for rewards.
    """

    policy: AnyPolicy
    encoded: Sequence[Encoded]
    own: Ints
    seed: int
    workers: Workers
    jobs: int | None = None
    backend: Backend = LOCAL
    measurements: Measurements | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    evaluations: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "evaluations", np.zeros(len(self.encoded), dtype=np.int64))

    def interrupted(self) -> bool:
        """Return whether any process is interrupted; every process must call it."""
        return self.workers.any(self.stop.is_set())

    def agree(self, fault: StreamplaceError | None) -> None:
        """Raise what stops this or another process; every process must call it.

        Parameters
        ----------
        fault
            The error of this process, if there is one.

        Raises
        ------
        StreamplaceError
            The error of this process.
        TrainingError
            If only another process has an error; the message is that of the error.
        StageInterruptedError
            If a process is interrupted.
        """
        messages = self.workers.gathered(None if fault is None else str(fault))
        if fault is not None:
            raise fault
        for message in messages:
            if message is not None:
                raise TrainingError(message)
        if self.interrupted():
            raise StageInterruptedError

    @property
    def problems(self) -> list[Problem]:
        """The problems, not encoded."""
        return [one.problem for one in self.encoded]

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Numbers of operators and devices of each problem."""
        return [(one.size, len(one.problem.cluster.devices)) for one in self.encoded]

    def batch(self, numbers: np.ndarray) -> Batch:
        """Return a batch of the problems with these numbers, largest first."""
        batch: Batch = self.policy.batch([self.encoded[i] for i in numbers])
        return batch
