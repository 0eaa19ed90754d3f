"""Base classes of policies."""

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
    """A network that computes placements, together with the features that it reads.

    The constructor takes the sizes of the policy's kind (see `policy.registry`) and creates the
    parameters.

    Attributes
    ----------
    members
        The number of independent policies that are stacked in this one. Every parameter of a
        stack has a leading axis of this length; see `policy.stacking`.
    """

    members: int = 1

    @abstractmethod
    def encode(self, problem: Problem) -> E:
        """Compute the features of a problem, which do not depend on any parameter.

        Raises
        ------
        GraphError
            If tuple rates overflow, or no tuple ever reaches a sink.
        """

    @abstractmethod
    def batch(self, encoded: Sequence[E]) -> B:
        """Join encoded problems, largest first, into tensors on the policy's torch device.

        Raises
        ------
        ValueError
            If the problems are not sorted by size, largest first.
        """

    def check(self, problem: Problem) -> None:
        """Raise an error if the policy cannot place a problem.

        Raises
        ------
        UnsuitableError
            If the policy cannot place it. The message gives the reason.
        """

    def unstacked(self) -> Sequence["Policy[E, B]"]:
        """Return the members of a stack as separate policies."""
        return [self]

    @property
    def torch_device(self) -> torch.device:
        """The torch device of the parameters."""
        return next(self.parameters()).device


class Constructive(Policy[E, B]):
    """A policy that builds a placement step by step, one operator at a time."""

    @abstractmethod
    def rollout(
        self,
        batch: B,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Place each of P problems S times, with differentiable log-probabilities.

        Parameters
        ----------
        samples
            S, the number of placements per problem.
        sampler
            The rule that chooses devices from logits.
        forced
            (P, S, V) devices to use instead of sampled ones; -1 where the policy chooses.
        teacher
            An expert that names the best actions in each state that the rollout reaches. Their
            log-probability becomes `Trajectories.agreement`.
        """

    def sample(self, batch: B, samples: int, sampler: Sampler) -> Ints:
        """Place each of P problems S times without gradients; return the devices, (P, S, V).

        Entries beyond a problem's number of operators are -1.
        """
        with torch.inference_mode():
            return self.rollout(batch, samples, sampler).placements

    def evaluate(self, batch: B, trajectories: Trajectories) -> Trajectories:
        """Recompute the probabilities of trajectories with the current parameters."""
        placements = trajectories.placements
        return self.rollout(batch, placements.shape[1], Sampler(), placements)

    def canonical(self, encoded: E, placement: Ints, sample: int) -> Ints:
        """Return an equivalent placement, (V,), that the policy could produce itself.

        Where devices are interchangeable, a policy may offer only one of several equivalent
        choices. It can learn only from placements that use the choices it offers.

        Parameters
        ----------
        placement
            (V,) the device of each operator.
        sample
            The index of the sample, on which the decoding order may depend.
        """
        return placement


AnyPolicy: TypeAlias = Constructive[Any, Any]


@runtime_checkable
class BeamSearching(Protocol):
    """A policy that supports beam search."""

    def beam(self, batch: Any, width: int) -> Ints:
        """Return the most likely placements, (width, V), that a beam search finds for a problem."""
        ...
