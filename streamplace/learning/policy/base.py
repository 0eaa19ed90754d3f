"""Base classes of policies."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeAlias, TypeVar

import torch
from torch import nn

from streamplace.errors import UnsuitableError
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.encoded import Batch, Encoded
from streamplace.learning.policy.teachers import Teacher
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.placers.base import THROUGHPUT
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import Evaluator
from streamplace.util.arrays import Ints

E = TypeVar("E", bound=Encoded)
B = TypeVar("B", bound=Batch)


class Policy(nn.Module, ABC, Generic[E, B]):
    """A network that computes placements, together with the features that it reads.

    The constructor takes the sizes of the policy's kind (see `learning.policy.registry`) and
    creates the parameters.

    Attributes
    ----------
    members
        The number of independent policies that are stacked in this one. Every parameter of a
        stack has a leading axis of this length; see `learning.policy.device_scorer.stacked`.
    gpu
        Whether it can compute on a GPU. Otherwise `train` keeps it on the CPU.
    device_count
        The number of devices of all its problems, if the network has an output for each; None: any.
    """

    members: int = 1
    gpu: bool = True
    device_count: int | None = None

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
            If the policy cannot place it, for example because it has another number of devices. The
            message gives the reason, and how to train for that number.
        """
        devices = len(problem.cluster.devices)
        if self.device_count not in (None, devices):
            raise UnsuitableError(
                f"this policy requires {self.device_count} devices (got {devices}); for {devices}, "
                f"train one whose config has sizes = {{ devices = {devices} }} under [policy]"
            )

    @classmethod
    def quantities(cls) -> frozenset[str] | None:
        """Return the quantities of the objectives that it supports; None: all.

        See `Objective.quantity`.
        """
        return None

    def unstacked(self) -> Sequence["Policy[E, B]"]:
        """Return the members of a stack as separate policies."""
        return [self]

    @property
    def torch_device(self) -> torch.device:
        """The torch device of the parameters."""
        return next(self.parameters()).device


class Constructive(Policy[E, B]):
    """A policy that builds a placement step by step, one operator at a time.

    Attributes
    ----------
    any_objective
        Whether it supports all objectives. Otherwise it supports those of throughput only, and
        training and the placer `policy` refuse others, such as makespans.
    selects
        Whether it also chooses the order in which operators are placed, so that an action is an
        operator and its device. Otherwise the order follows from the problem and the sample.
    places
        Whether it chooses devices. Otherwise each device follows from the operators before it.
    """

    any_objective: bool = False
    selects: bool = False
    places: bool = True

    @staticmethod
    def of(policy: "AnyPolicy") -> "Constructive[Any, Any]":
        """Return a policy that builds placements.

        Raises
        ------
        UnsuitableError
            If it refines them instead.
        """
        if isinstance(policy, Constructive):
            return policy
        raise UnsuitableError(f"{type(policy).__name__} refines placements and cannot build them")

    @classmethod
    def quantities(cls) -> frozenset[str] | None:
        """Return None, for all, if it supports any objective; else throughput."""
        return None if cls.any_objective else THROUGHPUT

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
            (P, S, V) devices to use instead of sampled ones; -1 where the policy chooses. A policy
            that `selects` operators also takes actions, (P, S, T, 2), with -1 where it chooses.
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
        made = trajectories.placements
        forced = trajectories.actions.cpu().numpy() if self.selects else made
        return self.rollout(batch, made.shape[1], Sampler(), forced)

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


class Refiner(Policy[E, B]):
    """A policy that improves a placement step by step.

    Attributes
    ----------
    relocates
        Whether an action is an operator and the device to which it moves. Otherwise the parts of
        an action are the policy's own, and the placement does not follow from them alone.
    """

    relocates: bool = True

    @staticmethod
    def of(policy: "AnyPolicy") -> "Refiner[Any, Any]":
        """Return a policy that refines placements.

        Raises
        ------
        UnsuitableError
            If it builds them instead.
        """
        if isinstance(policy, Refiner):
            return policy
        raise UnsuitableError(f"{type(policy).__name__} builds placements and cannot refine them")

    @abstractmethod
    def episode(self, encoded: E) -> int:
        """Return the number of steps of an episode, after which a policy starts anew."""

    @abstractmethod
    def rollout(
        self,
        batch: B,
        start: Ints,
        steps: Sequence[int],
        sampler: Sampler,
        evaluators: Sequence[Evaluator],
        forced: Ints | None = None,
    ) -> Trajectories:
        """Revise S placements of each of P problems, with differentiable log-probabilities.

        Every step counts as one evaluation, and so does the initial placement.

        Parameters
        ----------
        start
            (P, S, V) feasible placements to start from; entries beyond a problem's number of
            operators are ignored.
        steps
            (P,) the number of steps for each problem.
        sampler
            The rule that chooses actions from logits.
        evaluators
            (P,) the evaluator of each problem.
        forced
            (P, S, T, A) actions to take instead of sampled ones; -1 where the policy chooses. The
            operator of a step may be the policy's own choice.
        """

    @abstractmethod
    def evaluate(self, batch: B, trajectories: Trajectories) -> Trajectories:
        """Recompute the probabilities of trajectories with the current parameters.

        No placement is scored again.
        """

    def towards(self, encoded: E, devices: Ints) -> Ints:
        """Return the actions of an episode that ends in a placement, (T, A), from any start.

        Parameters
        ----------
        devices
            (V,) the device of each operator.

        Raises
        ------
        UnsuitableError
            If no single episode follows from the placement, so that it cannot be imitated.
        """
        raise UnsuitableError(
            f"{type(self).__name__} cannot imitate placements: it chooses what to revise itself"
        )

    def refine(
        self,
        batch: B,
        start: Ints,
        steps: Sequence[int],
        sampler: Sampler,
        evaluators: Sequence[Evaluator],
    ) -> Trajectories:
        """Revise placements without gradients; see `rollout`."""
        with torch.inference_mode():
            return self.rollout(batch, start, steps, sampler, evaluators)


AnyPolicy: TypeAlias = Policy[Any, Any]
