"""What the stages of a run share: a policy, the problems it learns on, its processes."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from streamplace.execution.backends import LOCAL, Backend
from streamplace.policy.base import AnyPolicy
from streamplace.policy.encoded import Batch, Encoded
from streamplace.problem.problem import Problem
from streamplace.training.distributed import Workers
from streamplace.util.arrays import Ints


class StageInterruptedError(Exception):
    """A stage was interrupted before its first step."""


@dataclass(frozen=True, eq=False)
class Learner:
    """A policy in training.

    Attributes
    ----------
    encoded
        All problems, as the policy reads them; steps name them by number.
    own
        The numbers of those that this process learns on.
    seed
        The seed of the run, from which all chance comes.
    jobs, backend
        Processes for a teacher's placements, and where they run; no result depends on them.
    stop
        Set when the run is interrupted.
    evaluations
        (P,) the number of placements of each problem that this process scored for rewards.
    """

    policy: AnyPolicy
    encoded: Sequence[Encoded]
    own: Ints
    seed: int
    workers: Workers
    jobs: int | None = None
    backend: Backend = LOCAL
    stop: threading.Event = field(default_factory=threading.Event)
    evaluations: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "evaluations", np.zeros(len(self.encoded), dtype=np.int64))

    def interrupted(self) -> bool:
        """Return whether any process is interrupted; all processes must ask."""
        return self.workers.any(self.stop.is_set())

    @property
    def problems(self) -> list[Problem]:
        """The problems themselves."""
        return [one.problem for one in self.encoded]

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Operators and devices of each problem."""
        return [(one.size, len(one.problem.cluster.devices)) for one in self.encoded]

    def batch(self, numbers: np.ndarray) -> Batch:
        """Join some problems, largest first."""
        batch: Batch = self.policy.batch([self.encoded[i] for i in numbers])
        return batch
