"""The check of agreement with a teacher, using an expert with known best devices."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from streamplace.policy.base import constructive
from streamplace.policy.decoding import Sampler
from streamplace.policy.teachers import Teacher, Ties
from streamplace.problem.problem import Problem
from streamplace.testing.case import PolicyCase, batch_of, generator
from streamplace.util.arrays import Bools, Ints

SAMPLES = 3
TOLERANCE = 1e-3  # of log-probabilities in single precision


@dataclass
class _Expert:
    """An expert that names the devices of known placements as the best.

    Attributes
    ----------
    best
        Placements, (P, S, V) each, whose devices are the best.
    forced
        (P, S, V) the devices that the policy must report as chosen.
    devices
        The number of devices.
    misled
        Whether the policy reported devices other than `forced`.
    """

    best: Sequence[Ints]
    forced: Ints
    devices: int
    misled: bool = False

    def __call__(self, problems: Sequence[Problem], samples: int) -> "_Expert":
        return self

    def judge(self, operators: Ints, devices: Ints) -> Bools:
        """Return the best devices of a step; see `policy.teachers.Expert`."""
        row = np.arange(len(operators))
        at = (row // SAMPLES, row % SAMPLES, operators)
        self.misled |= not np.array_equal(self.forced[at], devices)
        named = np.zeros((len(operators), self.devices), dtype=np.bool_)
        for placements in self.best:
            named[row, placements[at]] = True
        return named


def check_teacher(case: PolicyCase) -> None:
    """Check `agreement` against the log-probabilities of the devices that an expert names.

    The check is skipped for policies that choose no devices.

    Two placements of every problem differ only in the operator that is placed last, so that both
    pass through the same states. The expert names the devices of one placement, or of both.
    """
    policy = constructive(case.policy())
    if not policy.places:
        return
    problems = case.problems()[1:3]  # unequal devices, all of which are offered
    batch = batch_of(policy, *problems)

    def rollout(forced: Ints, *best: Ints, ties: Ties = "any") -> Tensor:
        """Return the agreement of each step, (P, S, T)."""
        expert = _Expert(best, forced, case.devices)
        teacher = Teacher(expert, ties)
        with torch.no_grad():
            made = policy.rollout(batch, SAMPLES, Sampler(), as_forced(forced), teacher)
        if made.agreement is None:
            fault = "a rollout with a teacher has no agreement; use teacher.agreement(logs, best)"
            raise AssertionError(f"{case.kind}: teacher: {fault}")
        fault = "judge() receives operators or devices that differ from those of the rollout"
        case.require(not expert.misled, "teacher", fault)
        return made.agreement.sum(dim=3)

    def as_forced(placed: Ints) -> Ints:
        """Return placements in the order of the free rollout."""
        if not policy.selects:
            return placed
        order = free.actions[..., 0].cpu().numpy()
        devices = np.take_along_axis(placed, np.maximum(order, 0), axis=2)
        return np.stack([order, np.where(order >= 0, devices, -1)], axis=3)

    with torch.no_grad():
        free = policy.rollout(batch, SAMPLES, Sampler(generator()))
        one = free.placements
        other = _another_end(one, free.actions, free.mask, case.devices)
        of_one, of_other = (
            policy.rollout(batch, SAMPLES, Sampler(), as_forced(placed)).log_prob[..., 1]
            for placed in (one, other)
        )
    last = _last(free.mask)
    joint = {"any": torch.logaddexp(of_one, of_other), "each": of_one + of_other}
    for forced, best, ties, expected in (
        (one, (one,), "any", of_one),
        (other, (one,), "any", of_one),
        (one, (one,), "each", of_one),
        (other, (one, other), "any", torch.where(last, joint["any"], of_one)),
        (other, (one, other), "each", torch.where(last, joint["each"], of_one)),
    ):
        agreement = rollout(forced, *best, ties=ties)  # type: ignore[arg-type]
        shape, needed = tuple(agreement.shape), tuple(expected.shape)
        fault = (
            f"agreement summed over parts must have shape {needed}, as log_prob has (got {shape})"
        )
        case.require(agreement.shape == expected.shape, "teacher", fault)
        worst = float((agreement - expected)[free.mask].abs().max())
        fault = (
            f"agreement differs by {worst:.2g} from the log-probability of the devices that the "
            f"expert names, with ties={ties!r}"
        )
        case.require(worst <= TOLERANCE, "teacher", fault)


def _last(mask: Tensor) -> Tensor:
    """Return whether each step is the last, (P, S, T) bool."""
    after = torch.zeros_like(mask)
    after[:, :, :-1] = mask[:, :, 1:]
    return mask & ~after


def _another_end(placements: Ints, actions: Tensor, mask: Tensor, devices: int) -> Ints:
    """Return placements, (P, S, V), with a different device for the operator placed last."""
    operators = actions[..., 0][_last(mask)].view(placements.shape[:2]).cpu().numpy()
    ends = placements.copy()
    at = (*np.indices(operators.shape), operators)
    ends[at] = (placements[at] + 1) % devices
    return ends
