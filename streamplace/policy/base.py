"""The frame of learned placers: what a policy is, and what one that builds placements does."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

import torch
from torch import nn

from streamplace.policy.decoding import Sampler
from streamplace.policy.encoded import Batch, Encoded
from streamplace.policy.teachers import Teacher
from streamplace.policy.trajectories import Trajectories
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints

E = TypeVar("E", bound=Encoded)
B = TypeVar("B", bound=Batch)


class Policy(nn.Module, ABC, Generic[E, B]):
    """A network that decides on placements, with features of its own.

    Parameters are created in the constructor, which takes the sizes of the policy's kind; see
    `policy.registry`.

    Attributes
    ----------
    members
        The number of independent policies that this one is a stack of; every parameter of a stack
        has a leading axis of that length. See `policy.stacking`.
    """

    members: int = 1

    @abstractmethod
    def encode(self, problem: Problem) -> E:
        """Compute the features of a problem; they depend on no parameter.

        Raises
        ------
        GraphError
            If tuple rates overflow, or no tuple ever reaches a sink.
        """

    @abstractmethod
    def batch(self, encoded: Sequence[E]) -> B:
        """Join encoded problems, largest first, into tensors on the policy's device.

        Raises
        ------
        ValueError
            If they do not come largest first.
        """

    def check(self, problem: Problem) -> None:
        """Refuse a problem that the policy cannot place.

        Raises
        ------
        UnsuitableError
            If it cannot, with the reason.
        """

    def unstacked(self) -> Sequence["Policy[E, B]"]:
        """Return the members of a stack as policies of their own."""
        return [self]

    @property
    def torch_device(self) -> torch.device:
        """The device of the parameters."""
        return next(self.parameters()).device


class Constructive(Policy[E, B]):
    """A policy that builds placements from nothing, one decision after another."""

    @abstractmethod
    def rollout(
        self,
        batch: B,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Place every problem `samples` times; gradients flow through the log-probabilities.

        Parameters
        ----------
        sampler
            The rule that chooses from logits.
        forced
            (P, S, V) devices to take instead of choosing, by operator; -1 where the policy chooses.
        teacher
            An expert that names the best actions in each state that the rollout comes to; their
            log-probability becomes `Trajectories.agreement`.
        """

    def sample(self, batch: B, samples: int, sampler: Sampler) -> Ints:
        """Place every problem `samples` times without gradients; return (P, S, V) devices.

        Entries beyond a problem's size are -1.
        """
        with torch.inference_mode():
            return self.rollout(batch, samples, sampler).placements

    def evaluate(self, batch: B, trajectories: Trajectories) -> Trajectories:
        """Score the actions of trajectories again, with the parameters as they are now."""
        placements = trajectories.placements
        return self.rollout(batch, placements.shape[1], Sampler(), placements)

    def canonical(self, encoded: E, placement: Ints, sample: int) -> Ints:
        """Return a placement, (V,), as the policy itself would make it as sample `sample`.

        Where devices are interchangeable, a policy may offer only one of several equal choices;
        an equal placement by those it offers is what it can learn from.
        """
        return placement


AnyPolicy: TypeAlias = Constructive[Any, Any]


@runtime_checkable
class BeamSearching(Protocol):
    """A policy that also decodes by beam search."""

    def beam(self, batch: Any, width: int) -> Ints:
        """Return the likeliest placements of one problem that a beam search finds, (width, V)."""
        ...
