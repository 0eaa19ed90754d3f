"""Plain placers on the held-out problems, with whose rewards those of a policy are compared."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import numpy as np
import torch
from torch import Tensor

from streamplace.errors import StreamplaceError
from streamplace.learning.training.algorithms.base import State
from streamplace.learning.training.rewards import Rewards
from streamplace.learning.training.stages import Stage
from streamplace.placers.base import BasePlacer
from streamplace.placers.registry import ready
from streamplace.placers.running import run_placer
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.util.arrays import Floats, Ints

PLACERS = {"metis": "metis", "heft": "heft", "search": "search:evaluations=4000"}
"""The placers by name; those that do not place under an objective are left out."""
FAILED = -1
PREFIX = "baselines."


def baselines(
    held_out: Sequence[Problem], stopped: Callable[[], bool] = lambda: False
) -> dict[str, list[Ints]]:
    """Return each placer's placements, (V,), of the problems; -1 throughout where it fails.

    Placers see the problems' own model, or ``bottleneck`` in place of the engine, under which a
    search takes minutes.

    Parameters
    ----------
    stopped
        Whether the run is interrupted; the result is then empty.
    """
    problems = [_in_closed_form(problem) for problem in held_out]
    found: dict[str, list[Ints]] = {}
    for name, text in PLACERS.items():
        placer = ready(text).placer
        assert isinstance(placer, BasePlacer), "built-in placers are"
        if not all(map(placer.supports, problems)):
            continue
        rng = np.random.default_rng(0)
        for problem in problems:
            if stopped():
                return {}
            row = np.full(len(problem.graph.names), FAILED, dtype=np.int32)
            with suppress(StreamplaceError):  # such as constraints that it cannot keep
                row[:] = run_placer(problem, text, rng).placement.devices
            found.setdefault(name, []).append(row)
    return found


def rewards_of(
    placed: Mapping[str, Sequence[Ints]], held_out: Sequence[Problem], stage: Stage
) -> dict[str, Floats]:
    """Return the rewards of baselines in the unit of a stage, (P,), as ``validation_metis``.

    They are NaN where the placer failed.
    """
    rewards = Rewards(held_out, stage.reward, stage.model)
    return {
        f"validation_{name}": np.array(
            [
                np.nan if FAILED in row else rewards(number, row[None])[0]
                for number, row in enumerate(rows)
            ]
        )
        for name, rows in placed.items()
    }


def state_of(placed: Mapping[str, Sequence[Ints]]) -> State:
    """Return baselines as tensors of a checkpoint."""
    return {PREFIX + name: torch.from_numpy(np.concatenate(rows)) for name, rows in placed.items()}


def restored(state: Mapping[str, Tensor], held_out: Sequence[Problem]) -> dict[str, list[Ints]]:
    """Return the baselines of a checkpoint; none if it was written before the first validation.

    Raises
    ------
    ValueError
        If they are not placements of these problems.
    """
    ends = np.cumsum([len(problem.graph.names) for problem in held_out])
    found: dict[str, list[Ints]] = {}
    for name in PLACERS:
        key = PREFIX + name
        if key not in state:
            continue
        every = state[key].numpy()
        if every.dtype != np.int32 or not len(ends) or every.shape != (ends[-1],):
            raise ValueError(f"{key}: wrong shape")
        found[name] = np.split(every, ends[:-1])
        for problem, row in zip(held_out, found[name], strict=True):
            if ((row < FAILED) | (row >= len(problem.cluster.devices))).any():
                raise ValueError(f"{key}: devices out of range")
    return found


def _in_closed_form(problem: Problem) -> Problem:
    if problem.objective.is_pass or problem.model in CLOSED_FORMS:
        return problem
    return problem.with_objective(problem.objective.with_changes(model="bottleneck"))
