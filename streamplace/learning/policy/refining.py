"""Rollouts of policies that refine placements: walks, their trajectories, and whole episodes."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from streamplace.learning.policy.base import Refiner
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.encoded import Batch
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.placers.repair import feasible
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats, Ints

L = TypeVar("L")
AT_ONCE = 20  # problems whose steps are computed together


class Walk(Protocol):
    """The T steps of a sample of a policy that refines placements of V operators."""

    @property
    def losses(self) -> Floats:
        """(T + 1,) the loss of the placement before each step, and at the end."""
        ...

    @property
    def last(self) -> Ints:
        """(V,) the placement at the end."""
        ...

    @property
    def best(self) -> Ints:
        """(V,) the first placement with the lowest loss."""
        ...


@dataclass(eq=False)
class Recorded:
    """What walks share that keep all placements.

    Attributes
    ----------
    devices
        (T + 1, V) the placement before each step, and at the end.
    losses
        (T + 1,) their losses.
    """

    devices: Ints
    losses: Floats

    @property
    def last(self) -> Ints:
        """(V,) the placement at the end."""
        placement: Ints = self.devices[-1]
        return placement

    @property
    def best(self) -> Ints:
        """(V,) the first placement with the lowest loss."""
        placement: Ints = self.devices[int(self.losses.argmin())]
        return placement


def started(
    batch: Batch, start: Ints, steps: Sequence[int], begin: Callable[[Any, Ints, int, int], L]
) -> list[L]:
    """Return what begins the walks of S samples of P problems, grouped by problem.

    Parameters
    ----------
    start
        (P, S, V) the placements to start from.
    steps
        (P,) the number of steps for each problem.
    begin
        Begins a walk of an encoded problem from a placement, (V,), with a number of steps; the last
        argument is the number of the problem.
    """
    return [
        begin(one, row[: one.size], steps[p], p)
        for p, one in enumerate(batch.encoded)
        for row in start[p]
    ]


def going(steps: Sequence[int], samples: int) -> Iterator[tuple[int, list[int]]]:
    """Yield each step with the numbers of the walks that take it.

    Parameters
    ----------
    steps
        (P,) the number of steps for each problem.
    samples
        S, the number of walks of each problem.
    """
    for t in range(max(steps)):
        yield t, [n for n in range(len(steps) * samples) if t < steps[n // samples]]


def recorded(trajectories: Trajectories) -> list[Any]:
    """Return the walks of trajectories whose record they are."""
    walks = trajectories.record
    assert isinstance(walks, list), "trajectories must be this policy's own"
    return walks


def of_walks(
    walks: Sequence[Walk],
    problems: int,
    actions: Tensor,
    log_prob: Tensor,
    entropy: Tensor,
    record: object = None,
) -> Trajectories:
    """Return the trajectories of the walks of all samples, grouped by problem.

    Parameters
    ----------
    problems
        P, the number of problems.
    actions, log_prob, entropy
        (N, A) the values of all steps of all walks on one torch device, differentiable where they
        are probabilities. N is the sum of the lengths of the walks.
    record
        What it takes to compute the probabilities again; by default the walks.
    """
    lengths = torch.tensor([len(walk.losses) - 1 for walk in walks])
    steps, operators = int(lengths.max()), max(len(walk.last) for walk in walks)
    mask = (torch.arange(steps) < lengths[:, None]).to(actions.device)
    losses = np.full((len(walks), steps + 1), np.nan)
    placements, best = np.full((2, len(walks), operators), -1, np.int32)
    for n, walk in enumerate(walks):
        losses[n, : len(walk.losses)] = walk.losses
        placements[n, : len(walk.last)] = walk.last
        best[n, : len(walk.best)] = walk.best

    def spread(values: Tensor, beyond: float) -> Tensor:
        """Return values of steps, (N, A), as (P, S, T, A)."""
        shape = (*mask.shape, values.shape[1])
        empty = torch.full(shape, beyond, dtype=values.dtype, device=mask.device)
        full = empty.masked_scatter(mask.unsqueeze(2), values)
        return full.view(problems, -1, steps, values.shape[1])

    return Trajectories(
        actions=spread(actions, -1),
        log_prob=spread(log_prob, 0.0),
        entropy=spread(entropy, 0.0),
        mask=mask.view(problems, -1, steps),
        placements=placements.reshape(problems, -1, operators),
        losses=losses.reshape(problems, -1, steps + 1),
        best=best.reshape(problems, -1, operators),
        record=walks if record is None else record,
    )


class Relocating(Walk, Protocol):
    """A walk in which every step places one operator."""

    @property
    def operator(self) -> Ints:
        """(T,) the operator that each step places."""
        ...

    @property
    def chosen(self) -> Ints:
        """(T,) the device on which it does."""
        ...


def of_relocations(
    walks: Sequence[Relocating],
    problems: int,
    log_prob: Tensor,
    entropy: Tensor,
    device: torch.device,
) -> Trajectories:
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
    return of_walks(walks, problems, taken, of_parts(log_prob), of_parts(entropy))


def refined(
    policy: Refiner[Any, Any],
    batch: Batch,
    starts: Sequence[Placement],
    samplers: Sequence[Sampler],
    samples: int = 1,
) -> Ints:
    """Return the best placement of each problem, (P, V); -1 beyond its number of operators.

    Parameters
    ----------
    starts
        (P,) placements to start from; those that violate constraints are repaired.
    samplers
        The rule of each episode. Every episode starts from the best placement so far.
    samples
        Number of samples per problem and episode.

    Raises
    ------
    PlacementError
        If a placement to start from cannot be repaired.
    """
    best = np.full((len(batch), int(batch.sizes[0])), -1, dtype=np.int32)
    for p, (one, start) in enumerate(zip(batch.encoded, starts, strict=True)):
        best[p, : one.size] = feasible(one.problem, start.devices).devices
    steps = [policy.episode(one) for one in batch.encoded]
    evaluators = [evaluator(one.problem) for one in batch.encoded]
    for sampler in samplers:
        rows = np.repeat(best[:, None], samples, axis=1)
        made = policy.refine(batch, rows, steps, sampler, evaluators)
        assert made.losses is not None, "refiners return losses"
        assert made.best is not None, "and the best placements"
        which = np.nanmin(made.losses, axis=2).argmin(axis=1)
        best = made.best[np.arange(len(batch)), which]
    return best


def refined_from(
    policy: Refiner[Any, Any],
    batch: Batch,
    start: Placement,
    episodes: int,
    samples: int,
    seed: int,
) -> Ints:
    """Return the best placement, (V,), of a problem; the first episode is the most likely one."""
    generator = torch.Generator().manual_seed(seed)
    samplers = [Sampler(generator, first_is_likeliest=number == 0) for number in range(episodes)]
    best: Ints = refined(policy, batch, [start], samplers, samples)[0]
    return best


@dataclass(frozen=True, eq=False)
class Episode:
    """An episode of T steps on one problem.

    Parameters
    ----------
    lowest
        (T + 1,) the lowest loss so far, that of the start first.
    best
        (V,) the best placement.
    cpu_s
        CPU seconds of its steps.
    """

    lowest: Floats
    best: Ints
    cpu_s: float


def episodes(
    policy: Refiner[Any, Any],
    problems: Sequence[Problem],
    starts: Sequence[Ints],
    per_operator: float,
    seed: int,
) -> list[Episode]:
    """Return an episode of random choices on each problem.

    Parameters
    ----------
    starts
        (V,) the feasible placement of each problem from which its episode starts.
    per_operator
        Steps per operator.
    """
    encoded = [policy.encode(problem) for problem in problems]
    by_size = sorted(range(len(problems)), key=lambda number: -encoded[number].size)
    made: dict[int, Episode] = {}
    for first in range(0, len(by_size), AT_ONCE):
        part = by_size[first : first + AT_ONCE]
        batch = policy.batch([encoded[number] for number in part])
        steps = [round(per_operator * one.size) for one in batch.encoded]
        rows = np.full((len(part), 1, int(batch.sizes[0])), -1, np.int32)
        for row, number in enumerate(part):
            rows[row, 0, : len(starts[number])] = starts[number]
        scored = [evaluator(problems[number]) for number in part]
        own = np.random.SeedSequence([seed, first]).generate_state(1)
        sampler = Sampler(torch.Generator().manual_seed(int(own[0])))
        begun = time.process_time()
        found = policy.refine(batch, rows, steps, sampler, scored)
        a_step = (time.process_time() - begun) / sum(steps)
        assert found.losses is not None, "refiners return losses"
        assert found.best is not None, "and the best placements"
        for row, number in enumerate(part):
            lowest = np.minimum.accumulate(found.losses[row, 0, : steps[row] + 1])
            best = found.best[row, 0, : len(starts[number])]
            made[number] = Episode(lowest, best, a_step * steps[row])
    return [made[number] for number in range(len(problems))]
