"""Trajectories: the decisions of a policy, and their probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from streamplace.util.arrays import Ints


@dataclass(frozen=True)
class Trajectories:
    """S samples of each of P problems: at most T steps, each an action of A parts.

    The parts of a constructive policy's action are an operator and its device. A part that the
    policy does not choose has log-probability and entropy 0.

    Attributes
    ----------
    actions
        (P, S, T, A) int64; -1 beyond the last step.
    log_prob
        (P, S, T, A) of each part; differentiable where gradients are on.
    entropy
        (P, S, T, A) of the distribution that each part was chosen from, in nats.
    mask
        (P, S, T) bool: the steps that there are.
    placements
        (P, S, V) the device of each operator at the end; -1 beyond the problem's size.
    agreement
        (P, S, T, A) the log-probability of what the teacher would have done; None without one.
    """

    actions: Tensor
    log_prob: Tensor
    entropy: Tensor
    mask: Tensor
    placements: Ints
    agreement: Tensor | None = None

    @property
    def log_probability(self) -> Tensor:
        """(P, S) of whole trajectories."""
        return summed_over_steps(self.log_prob)

    @property
    def mean_entropy(self) -> Tensor:
        """(P, S) mean over the steps, in nats."""
        return summed_over_steps(self.entropy) / self.mask.sum(dim=2)


def summed_over_steps(values: Tensor) -> Tensor:
    """Return (P, S), the sum of (P, S, T, A) over steps and parts.

    Terms are added step after step: the order of a reduction by torch depends on shapes and
    machines, and with it the last bits of a training run.
    """
    problems, samples, steps, parts = values.shape
    flat = values.permute(2, 3, 0, 1).reshape(-1)
    index = torch.arange(problems * samples, device=values.device).repeat(steps * parts)
    total = torch.zeros(problems * samples, dtype=values.dtype, device=values.device)
    return total.index_add(0, index, flat).view(problems, samples)


def of_placements(
    placements: Ints,
    operators: Ints,
    counts: Sequence[int],
    devices: Tensor,
    log_prob: Tensor,
    entropy: Tensor,
    agreement: Tensor | None = None,
) -> Trajectories:
    """Return the trajectories of a policy that chooses a device for one operator after another.

    Rows are the P·S samples, a problem's side by side, and problems come largest first: at step t
    the first `counts[t]` rows have an operator left.

    Parameters
    ----------
    placements
        (P, S, V) devices.
    operators
        (T, P·S) the operator of each step and row, numbered within its problem.
    counts
        (T,) numbers of rows.
    devices, log_prob, entropy, agreement
        (N,) of all decisions, step after step; N is the sum of `counts`.
    """
    problems, samples, _ = placements.shape
    steps, rows = operators.shape
    where = torch.cat([torch.arange(count) + t * rows for t, count in enumerate(counts)])
    where = where.to(devices.device)

    def spread(values: Tensor, beyond: float) -> Tensor:
        """Lay (N,) values out as (P, S, T)."""
        empty = torch.full((steps * rows,), beyond, dtype=values.dtype, device=values.device)
        full = empty.index_put((where,), values)
        return full.view(steps, problems, samples).permute(1, 2, 0)

    def second(values: Tensor) -> Tensor:
        """Return (N,) values of the device as (P, S, T, 2): those of the operator are 0."""
        of_device = spread(values, 0.0)
        return torch.stack([torch.zeros_like(of_device), of_device], dim=3)

    mask = spread(torch.ones_like(devices, dtype=torch.bool), 0)
    numbers = torch.from_numpy(operators).to(devices).view(steps, problems, samples)
    numbers = numbers.permute(1, 2, 0).masked_fill(~mask, -1)
    return Trajectories(
        actions=torch.stack([numbers, spread(devices, -1)], dim=3),
        log_prob=second(log_prob),
        entropy=second(entropy),
        mask=mask,
        placements=placements,
        agreement=None if agreement is None else second(agreement),
    )
