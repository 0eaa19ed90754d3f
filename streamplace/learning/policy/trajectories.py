"""Trajectories: the decisions of a policy and their probabilities."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from streamplace.learning.policy.walks import Relocating, Walk
from streamplace.util.arrays import Floats, Ints


@dataclass(frozen=True)
class Trajectories:
    """S samples of each of P problems, with at most T steps of A action parts each.

    The parts of a constructive policy's action are an operator and its device. A part that the
    policy does not choose has log-probability and entropy 0.

    Attributes
    ----------
    actions
        (P, S, T, A) int64; -1 beyond the last step.
    log_prob
        (P, S, T, A) the log-probability of each part; differentiable if gradients are enabled.
    entropy
        (P, S, T, A) the entropy of the distribution that each part was drawn from, in nats.
    mask
        (P, S, T) bool; False beyond the last step.
    placements
        (P, S, V) the final device of each operator; -1 beyond the problem's number of operators.
    agreement
        (P, S, T, A) the log-probability of the teacher's actions; None without a teacher.
    losses
        (P, S, T + 1) the loss of the placement before each step, and at the end; NaN beyond a
        problem's last step. None for policies that build placements.
    best
        (P, S, V) the first placement of each trajectory with its lowest loss, the initial one
        included; -1 beyond the problem's number of operators. None for policies that build them.
    record
        What a policy that refines placements needs to compute the probabilities again.
    """

    actions: Tensor
    log_prob: Tensor
    entropy: Tensor
    mask: Tensor
    placements: Ints
    agreement: Tensor | None = None
    losses: Floats | None = None
    best: Ints | None = None
    record: object = None

    @classmethod
    def of_placements(
        cls,
        placements: Ints,
        operators: Ints,
        counts: Sequence[int],
        devices: Tensor,
        log_prob: Tensor,
        entropy: Tensor,
        agreement: Tensor | None = None,
    ) -> Self:
        """Return the trajectories of a policy that chooses a device for one operator after another.

        The rows are the P·S samples, grouped by problem, and problems are sorted by size, largest
        first. At step t the first `counts[t]` rows have an operator left.

        Parameters
        ----------
        placements
            (P, S, V) the device of each operator.
        operators
            (T, P·S) the operator of each step and row, as an index within its problem.
        counts
            (T,) the number of rows at each step.
        devices, log_prob, entropy, agreement
            (N,) the values of all decisions, ordered by step. N is the sum of `counts`.
        """
        where = _places(counts, operators.shape[1])
        numbers = torch.from_numpy(operators.reshape(-1)[where.numpy()]).to(devices)

        def of_parts(values: Tensor) -> Tensor:
            """Return values of devices, (N,), as (N, 2) with 0 for the operators."""
            return torch.stack([torch.zeros_like(values), values], dim=1)

        return cls.of_actions(
            placements,
            counts,
            torch.stack([numbers, devices], dim=1),
            of_parts(log_prob),
            of_parts(entropy),
            None if agreement is None else of_parts(agreement),
        )

    @classmethod
    def of_actions(
        cls,
        placements: Ints,
        counts: Sequence[int],
        actions: Tensor,
        log_prob: Tensor,
        entropy: Tensor,
        agreement: Tensor | None = None,
    ) -> Self:
        """Return the trajectories of a policy that places one operator per step, in any order.

        Rows and counts are those of `of_placements`; each row has as many steps as operators.

        Parameters
        ----------
        actions, log_prob, entropy, agreement
            (N, A) the values of all decisions, ordered by step.
        """
        problems, samples, _ = placements.shape
        steps, rows = len(counts), problems * samples
        where = _places(counts, rows).to(actions.device)

        def spread(values: Tensor, beyond: float) -> Tensor:
            """Return values of decisions, (N, A), as (P, S, T, A)."""
            shape = (steps * rows, values.shape[1])
            empty = torch.full(shape, beyond, dtype=values.dtype, device=values.device)
            full = empty.index_put((where,), values)
            return full.view(steps, problems, samples, -1).permute(1, 2, 0, 3)

        decided = torch.ones(len(actions), 1, dtype=torch.bool, device=actions.device)
        return cls(
            actions=spread(actions, -1),
            log_prob=spread(log_prob, 0.0),
            entropy=spread(entropy, 0.0),
            mask=spread(decided, 0).squeeze(3),
            placements=placements,
            agreement=None if agreement is None else spread(agreement, 0.0),
        )

    @classmethod
    def of_walks(
        cls,
        walks: Sequence[Walk],
        problems: int,
        actions: Tensor,
        log_prob: Tensor,
        entropy: Tensor,
        record: object = None,
    ) -> Self:
        """Return the trajectories of the walks of all samples, grouped by problem.

        Parameters
        ----------
        problems
            P, the number of problems.
        actions, log_prob, entropy
            (N, A) the values of all steps of all walks on one torch device, differentiable where
            they are probabilities. N is the sum of the lengths of the walks.
        record
            What it takes to compute the probabilities again; by default the walks.
        """
        lengths = torch.tensor([len(walk.losses) - 1 for walk in walks])
        steps, operators = int(lengths.max()), max(walk.devices.shape[-1] for walk in walks)
        mask = (torch.arange(steps) < lengths[:, None]).to(actions.device)
        losses = np.full((len(walks), steps + 1), np.nan)
        placements, best = np.full((2, len(walks), operators), -1, np.int32)
        for n, walk in enumerate(walks):
            losses[n, : len(walk.losses)] = walk.losses
            kept = np.atleast_2d(walk.devices)
            placements[n, : kept.shape[1]] = kept[-1]
            best[n, : kept.shape[1]] = kept[walk.losses[: len(kept)].argmin()]

        def spread(values: Tensor, beyond: float) -> Tensor:
            """Return values of steps, (N, A), as (P, S, T, A)."""
            shape = (*mask.shape, values.shape[1])
            empty = torch.full(shape, beyond, dtype=values.dtype, device=mask.device)
            full = empty.masked_scatter(mask.unsqueeze(2), values)
            return full.view(problems, -1, steps, values.shape[1])

        return cls(
            actions=spread(actions, -1),
            log_prob=spread(log_prob, 0.0),
            entropy=spread(entropy, 0.0),
            mask=mask.view(problems, -1, steps),
            placements=placements.reshape(problems, -1, operators),
            losses=losses.reshape(problems, -1, steps + 1),
            best=best.reshape(problems, -1, operators),
            record=walks if record is None else record,
        )

    @classmethod
    def of_relocations(
        cls,
        walks: Sequence[Relocating],
        problems: int,
        log_prob: Tensor,
        entropy: Tensor,
        device: torch.device,
    ) -> Self:
        """Return the trajectories of walks whose policy chooses the devices, grouped by problem.

        Parameters
        ----------
        log_prob, entropy
            (N,) differentiable values of the devices of all steps of all walks.
        device
            The torch device of the trajectories.
        """

        def of_parts(values: Tensor) -> Tensor:
            """Return values of devices, (N,), as (N, 2) with 0 for the operators."""
            return torch.stack([torch.zeros_like(values), values], dim=1).to(device)

        actions = np.concatenate([np.stack([w.operator, w.chosen], axis=1) for w in walks])
        taken = torch.from_numpy(actions.astype(np.int64)).to(device)
        return cls.of_walks(walks, problems, taken, of_parts(log_prob), of_parts(entropy))

    @property
    def walks(self) -> list[Any]:
        """The walks of trajectories whose record they are."""
        assert isinstance(self.record, list), "trajectories must be this policy's own"
        return self.record

    @property
    def rewards(self) -> Floats:
        """(P, S, T) the fall of the logarithm of the loss at each step; 0 beyond the last one.

        Raises
        ------
        ValueError
            If the policy builds placements, which are scored only when they are complete.
        """
        return self.falls_of(np.log)

    def falls_of(self, of: Callable[[Floats], Floats]) -> Floats:
        """Return the fall of a function of the losses at each step, (P, S, T).

        Parameters
        ----------
        of
            Maps losses, (P, S, T + 1), to an array of that shape.

        Raises
        ------
        ValueError
            If the policy builds placements.
        """
        if self.losses is None:
            raise ValueError("trajectories without losses have no reward per step")
        falls = -np.diff(of(self.losses), axis=2)
        return np.where(self.mask.cpu().numpy(), falls, 0.0)

    @property
    def log_probability(self) -> Tensor:
        """(P, S) the log-probability of each trajectory."""
        return summed_over_steps(self.log_prob)

    def discounted(self, discount: float) -> Tensor:
        """Return the log-probability of each trajectory, (P, S), with discounted steps.

        A step that n steps follow has the weight discount^n: what a reward at the end is worth at
        that step.
        """
        if discount == 1.0:
            return self.log_probability
        step = torch.arange(self.mask.shape[2], device=self.mask.device)
        later = (self.mask.sum(dim=2, keepdim=True) - 1 - step).clamp(min=0)
        weight = (discount**later).to(self.log_prob).unsqueeze(3)
        return summed_over_steps(self.log_prob * weight)

    @property
    def mean_entropy(self) -> Tensor:
        """(P, S) the mean entropy per step, in nats."""
        return summed_over_steps(self.entropy) / self.mask.sum(dim=2)


def summed_over_steps(values: Tensor) -> Tensor:
    """Sum values, (P, S, T, A), over steps and parts; return (P, S).

    Terms are added in the order of steps. The order of torch's reductions depends on shapes and
    machines, and would change the last bits of a training run.
    """
    problems, samples, steps, parts = values.shape
    flat = values.permute(2, 3, 0, 1).reshape(-1)
    index = torch.arange(problems * samples, device=values.device).repeat(steps * parts)
    total = torch.zeros(problems * samples, dtype=values.dtype, device=values.device)
    return total.index_add(0, index, flat).view(problems, samples)


def _places(counts: Sequence[int], rows: int) -> Tensor:
    """Return the place of each decision, (N,), among T x R, ordered by step."""
    return torch.cat([torch.arange(count) + t * rows for t, count in enumerate(counts)])
