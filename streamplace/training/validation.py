"""Validation: mean reward of greedy placements of held-out problems."""

import threading
from collections.abc import Iterator, Sequence

import numpy as np

from streamplace.policy.base import AnyPolicy, Constructive, refiner
from streamplace.policy.decoding import Sampler
from streamplace.policy.encoded import Batch, Encoded
from streamplace.policy.refining import refined
from streamplace.problem.placement import Placement
from streamplace.training.problems import largest_first
from streamplace.training.repair import repaired
from streamplace.training.rewards import Rewards
from streamplace.training.stages import Stage, StepReinforceStage
from streamplace.training.starts import FALLBACK, start_of
from streamplace.util.arrays import Ints


def validation(
    policy: AnyPolicy, held_out: Sequence[Encoded], stage: Stage, starts: Sequence[Placement]
) -> dict[str, float]:
    """Return the mean reward of one greedy placement per problem; empty without problems.

    A policy that refines placements takes one greedy episode from the start of each problem, as
    `starts_of` returns them, and the best placement of the episode counts.
    """
    rewards = Rewards([one.problem for one in held_out], stage.reward, stage.model)
    reached = []
    for numbers in _batches(held_out, stage.problems_per_step):
        batch = policy.batch([held_out[k] for k in numbers])
        placements = _placements(policy, batch, [starts[k] for k in numbers if starts])
        for number, one, row in zip(numbers, batch.encoded, placements, strict=True):
            _, rows = repaired(one.problem, np.zeros(1, np.int64), row[:, : one.size])
            if len(rows):
                reached.append(rewards(int(number), rows)[0])
    return {"validation": float(np.mean(reached))} if reached else {}


def starts_of(
    policy: AnyPolicy,
    held_out: Sequence[Encoded],
    stage: Stage,
    number: int,
    stop: threading.Event | None = None,
) -> list[Placement]:
    """Return the placement from which the greedy episode of each problem starts.

    The stage's placer of starts makes them, or `FALLBACK` if the stage has none. A policy that
    builds placements needs none.

    Parameters
    ----------
    number
        The number of the stage, for messages.
    stop
        Set when the run is interrupted; the result is then empty.

    Raises
    ------
    StreamplaceError
        If the placer cannot place a problem.
    """
    if isinstance(policy, Constructive):
        return []
    placer, key = FALLBACK, f"stage[{number}], validation"
    if isinstance(stage, StepReinforceStage):
        placer, key = stage.start, f"stage[{number}].start"
    starts: dict[int, Placement] = {}
    for numbers in _batches(held_out, stage.problems_per_step):
        rng = np.random.default_rng(0)
        for k in numbers.tolist():
            if stop is not None and stop.is_set():
                return []
            problem = held_out[k].problem
            starts[k] = start_of(problem, placer, rng, key, f"{k} of those held out")
    return [starts[k] for k in range(len(held_out))]


def _placements(policy: AnyPolicy, batch: Batch, starts: Sequence[Placement]) -> Ints:
    """Return one greedy placement per problem, (P, 1, V)."""
    if isinstance(policy, Constructive):
        return policy.sample(batch, 1, Sampler())
    return refined(refiner(policy), batch, starts, [Sampler()])[:, None]


def _batches(problems: Sequence[Encoded], batch_size: int) -> Iterator[np.ndarray]:
    """Yield the problem numbers of each batch; its problems have the same number of devices."""
    devices = np.array([len(one.problem.cluster.devices) for one in problems], dtype=np.int64)
    for count in np.unique(devices):
        group = largest_first(problems, np.flatnonzero(devices == count))
        yield from (group[i : i + batch_size] for i in range(0, len(group), batch_size))
