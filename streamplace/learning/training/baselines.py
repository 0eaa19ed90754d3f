"""Plain placers on the held-out problems, with whose rewards those of a policy are compared."""

import threading
from collections.abc import Mapping, Sequence
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


def baselines(held_out: Sequence[Problem], stop: threading.Event | None = None) -> State | None:
    """Return each placer's devices of all problems' operators, -1 for problems on which it fails.

    Placers see the problems' own model, or ``bottleneck`` in place of the engine, under which a
    search takes minutes. The tensors, (sum of V,), are part of a checkpoint.

    Parameters
    ----------
    stop
        Set when the run is interrupted; the result is then None.
    """
    problems = [_in_closed_form(problem) for problem in held_out]
    found: State = {}
    for name, text in PLACERS.items():
        placer = ready(text).placer
        assert isinstance(placer, BasePlacer), "built-in placers are"
        if not problems or not all(map(placer.supports, problems)):
            continue
        rng, rows = np.random.default_rng(0), []
        for problem in problems:
            if stop is not None and stop.is_set():
                return None
            row = np.full(len(problem.graph.names), FAILED, dtype=np.int32)
            with suppress(StreamplaceError):  # such as constraints that it cannot keep
                row[:] = run_placer(problem, text, rng).placement.devices
            rows.append(row)
        found[PREFIX + name] = torch.from_numpy(np.concatenate(rows))
    return found


def rewards_of(placed: State, held_out: Sequence[Problem], stage: Stage) -> dict[str, Floats]:
    """Return the rewards of baselines in the unit of a stage, (P,), as ``validation_metis``.

    They are NaN where the placer failed.
    """
    rewards = Rewards(held_out, stage.reward, stage.model)
    found: dict[str, Floats] = {}
    for name, devices in placed.items():
        rows = np.split(devices.numpy(), _ends(held_out)[:-1])
        reached = [
            np.nan if FAILED in row else rewards(number, row[None])[0]
            for number, row in enumerate(rows)
        ]
        found[f"validation_{name.removeprefix(PREFIX)}"] = np.array(reached)
    return found


def restore_baselines(state: Mapping[str, Tensor], held_out: Sequence[Problem]) -> State:
    """Return the baselines of a checkpoint; none if it was written before the first validation.

    Raises
    ------
    ValueError
        If they are not placements of these problems. Without problems, they are not checked.
    """
    names = [PREFIX + name for name in PLACERS]  # in the order of the log of other runs
    found = {name: state[name] for name in names if name in state}
    if not held_out:
        return found
    ends = _ends(held_out)
    limits = np.repeat([len(one.cluster.devices) for one in held_out], np.diff(ends, prepend=0))
    for name, devices in found.items():
        if devices.dtype != torch.int32 or devices.shape != limits.shape:
            raise ValueError(f"{name}: wrong shape")
        if ((devices.numpy() < FAILED) | (devices.numpy() >= limits)).any():
            raise ValueError(f"{name}: devices out of range")
    return found


def _ends(problems: Sequence[Problem]) -> Ints:
    """Return one past the last operator of each problem, among those of all."""
    return np.cumsum([len(problem.graph.names) for problem in problems])


def _in_closed_form(problem: Problem) -> Problem:
    if not problem.objective.has_rates or problem.model in CLOSED_FORMS:
        return problem
    return problem.with_objective(problem.objective.with_changes(model="bottleneck"))
