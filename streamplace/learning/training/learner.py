"""State shared by the stages of a run, and Adam with a learning-rate schedule and clipping."""

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from streamplace.errors import StreamplaceError, TrainingError
from streamplace.execution.backends import LOCAL, Backend
from streamplace.learning.policy.base import AnyPolicy
from streamplace.learning.policy.encoded import Batch, Encoded
from streamplace.learning.training.distributed import Workers
from streamplace.learning.training.measuring.measurements import Measurements
from streamplace.learning.training.stages import OptimiserSection
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints

BAD_STEPS = 20  # consecutive steps without a finite gradient after which training fails
PREFIX = "optimiser."
MOMENTS = ("exp_avg", "exp_avg_sq")


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


class Optimiser:
    """Adam over all parameters of a policy.

    Parameters
    ----------
    section
        Learning rates, schedule, warm-up and gradient clipping.
    epochs
        First epoch of the schedule, and one past its last epoch.
    first_step
        Step of the run at which the schedule begins.
    """

    def __init__(
        self,
        policy: AnyPolicy,
        section: OptimiserSection,
        epochs: tuple[int, int],
        first_step: int = 0,
    ) -> None:
        self._policy, self._section = policy, section
        self._epochs, self.first_step = epochs, first_step
        self._adam = torch.optim.Adam(policy.parameters(), lr=section.rate, fused=True)
        self._bad = torch.zeros(policy.members, dtype=torch.int64)

    @property
    def rate(self) -> float:
        """The current learning rate."""
        return float(self._adam.param_groups[0]["lr"])

    def set_rate(self, epoch: float, step: int) -> None:
        """Set the learning rate of a step: warm-up, then from the initial to the final rate.

        Parameters
        ----------
        epoch
            Epoch of the run, as a fractional number.
        step
            Number of steps of the run that are done.
        """
        section = self._section
        first, end = self._epochs
        progress = (epoch - first) / (end - first)
        last = section.rate if section.final_rate is None else section.final_rate
        if section.schedule == "cosine":
            left = 0.5 * (1.0 + math.cos(math.pi * progress))
        else:
            left = 1.0 - progress
        rate = last + (section.rate - last) * left
        done = step - self.first_step
        if done < section.warm_up:
            rate *= (done + 1) / section.warm_up
        for group in self._adam.param_groups:
            group["lr"] = rate

    def zero_gradients(self) -> None:
        """Clear the gradients."""
        self._adam.zero_grad()

    def update(self) -> None:
        """Take Adam's step, unless the gradient is not finite.

        In a stack of policies, each member's gradient is clipped and checked separately; a member
        whose gradient is not finite is left unchanged while the others are updated.

        Raises
        ------
        TrainingError
            If the gradients of all members were not finite in `BAD_STEPS` consecutive steps.
        """
        limit = self._section.largest_gradient or math.inf
        if self._policy.members > 1:
            norm = _clip_members(self._policy, limit)
        else:
            norm = nn.utils.clip_grad_norm_(self._policy.parameters(), limit).reshape(1)
        bad = ~torch.isfinite(norm.cpu())
        self._bad = (self._bad + 1) * bad
        if int(self._bad.min()) >= BAD_STEPS:
            raise TrainingError(f"{BAD_STEPS} gradients in a row were not finite")
        if not bad.any():
            self._adam.step()
        elif not bad.all():
            self._step_without(bad.nonzero()[:, 0])

    def _step_without(self, members: Tensor) -> None:
        """Take Adam's step, then restore some members of a stack to their previous values."""
        moments = (state[key] for state in self._adam.state.values() for key in MOMENTS)
        tensors = [*self._policy.parameters(), *moments]
        before = [tensor.detach()[members.to(tensor.device)].clone() for tensor in tensors]
        self._adam.step()
        with torch.no_grad():
            for tensor, kept in zip(tensors, before, strict=False):
                tensor[members.to(tensor.device)] = kept

    def state(self) -> dict[str, Tensor]:
        """Return Adam's moments as tensors by name."""
        names = [name for name, _ in self._policy.named_parameters()]
        return {
            f"{PREFIX}{key}.{names[i]}": x
            for i, state in self._adam.state_dict()["state"].items()
            for key, x in state.items()
        }

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Restore what `state` returned.

        Raises
        ------
        KeyError, ValueError
            If a name or shape does not match a parameter, or a moment is missing.
        """
        names = [name for name, _ in self._policy.named_parameters()]
        moments: dict[int, dict[str, Tensor]] = {}
        for name, tensor in state.items():
            if name.startswith(PREFIX):
                key, _, parameter = name.removeprefix(PREFIX).partition(".")
                moments.setdefault(names.index(parameter), {})[key] = tensor
        parameters = list(self._policy.parameters())
        for i, kept in moments.items():
            if any(kept[key].shape != parameters[i].shape for key in MOMENTS):
                raise ValueError(f"{PREFIX}*.{names[i]}: wrong shape")
        groups = self._adam.state_dict()["param_groups"]
        self._adam.load_state_dict({"state": moments, "param_groups": groups})


def _clip_members(policy: nn.Module, limit: float) -> Tensor:
    """Clip each member's gradient, zero those that are not finite, and return the norms, (K,)."""
    gradients = [p.grad for p in policy.parameters() if p.grad is not None]
    squares = [gradient.flatten(1).pow(2).sum(dim=1) for gradient in gradients]
    norm = torch.stack(squares).sum(dim=0).sqrt()
    finite = torch.isfinite(norm)
    scale = torch.where(finite, (limit / (norm + 1e-6)).clamp(max=1.0), 0.0)
    for gradient in gradients:
        shape = (-1, *[1] * (gradient.dim() - 1))
        gradient.mul_(scale.view(shape)).masked_fill_(~finite.view(shape), 0.0)
    return norm
