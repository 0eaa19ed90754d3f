"""Walks: sequences of parts that are built anew, each kept unless the loss rises.

Each head is one decision among a few values. Some parts make other heads irrelevant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from streamplace.makespan.evaluator import MakespanEvaluator, makespan_evaluator
from streamplace.placers.base import MAKESPAN, refuse_other_objectives
from streamplace.placers.repair import feasible
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import Evaluator
from streamplace.sim.schedule.contention import Memory, Present, Weights, no_schedule, schedule_part
from streamplace.sim.schedule.passes import timetable
from streamplace.sim.schedule.queues import no_events
from streamplace.sim.schedule.ranks import (
    Neighbours,
    grow,
    mean_messages,
    mean_seconds,
    neighbours_of,
    optimistic_costs,
    upward_rank,
)
from streamplace.sim.schedule.task_graph import FREE
from streamplace.util.arrays import Floats, Ints

TINY = 1e-12  # share that is added to both, so that graphs without work or messages have a ratio
FEATURES = 8
"""Numbers that a step reads: five of the problem, and three of the episode so far."""

PARTS = ("window", "near", "heavy", "own", "all", "moved")
"""The operators that are placed anew: those that run at about the same time as one of them, those
near it in the graph, those reached over its heaviest streams, the same on its own device only, or
all; `moved` moves the last but one kind together to one device."""

HEADS: Mapping[str, Sequence[float]] = {
    "part": range(len(PARTS)),
    "size": (0.2, 0.35, 0.5, 0.65, 0.8),  # exponent of the number of operators
    "critical": (0, 1),  # whether the part begins with an operator of the critical path
    "received": (0.0, 0.3, 1.0, 3.0),  # weight of messages that an operator receives
    "sent": (0.0, 0.3, 1.0, 3.0),  # weight of its messages to the present devices of consumers
    "ahead": (0, 1),  # weight of PEFT's optimistic costs
    "noise": (0.0, 0.2, 1.0, 4.0),  # scale of random seconds, in mean seconds per operator
    "present": (0, 1),  # whether operators are taken by their present starts, not by rank
}
"""The heads and their values."""

COUNTS = [len(values) for values in HEADS.values()]
NAMES = list(HEADS)
FADING = 0.9  # weight of the past in the share of steps that helped
NEIGHBOURING = 0.5  # share of moved parts whose target is the device of a neighbour
SPREAD = 0.3  # exponent of the random factors of heavy streams
SHORTEST_S = 1e-300  # so that makespans of 0 have a ratio
NO_DEVICES = np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class RebuildProblem:
    """A problem as the policy reads it.

    Attributes
    ----------
    scored
        The evaluator of the problem, with its arrays.
    rank
        (V,) upward ranks of HEFT, in seconds.
    ahead
        (V, D) PEFT's optimistic costs, in seconds.
    neighbours
        The operators at the other ends of streams.
    memory
        The working memory of list schedules.
    features
        (5,) numbers of the problem that do not change.
    """

    problem: Problem
    scored: MakespanEvaluator
    rank: Floats
    ahead: Floats
    neighbours: Neighbours
    memory: Memory
    features: Floats

    @classmethod
    def of(cls, problem: Problem) -> "RebuildProblem":
        """Return what the policy reads of a problem.

        Raises
        ------
        ObjectiveError
            If the objective is not the makespan.
        """
        refuse_other_objectives(problem, "rebuild", MAKESPAN)
        scored = makespan_evaluator(problem)
        tasks, masks = scored.tasks, scored.compiled.masks
        seconds, messages = mean_seconds(tasks, *masks), mean_messages(tasks, *masks)
        ahead = optimistic_costs(tasks, *masks)
        least = TINY * (messages.sum() + seconds.sum()) or 1.0
        features = [
            1.0,
            np.log(tasks.operators) / 4.0,
            np.log(tasks.devices) / 2.0,
            np.log((messages.sum() + least) / (seconds.sum() + least)) / 4.0,
            float(tasks.network != FREE),
        ]
        return cls(
            problem=problem,
            scored=scored,
            rank=upward_rank(tasks, seconds, messages),
            ahead=np.where(np.isfinite(ahead), ahead, 0.0),
            neighbours=neighbours_of(tasks.operators, tasks.source, tasks.target, messages),
            memory=no_schedule(tasks, scored.compiled.rules),
            features=np.clip(features, -4.0, 4.0),
        )

    @property
    def size(self) -> int:
        """The number of operators."""
        return self.scored.tasks.operators


class Choice(NamedTuple):
    """The values of all heads in a step, by the names of `HEADS`."""

    part: str
    size: float
    critical: bool
    received: float
    sent: float
    ahead: float
    noise: float
    present: bool


def choice_of(numbers: Sequence[int]) -> Choice:
    """Return the values of the heads from the numbers of their values, (H,)."""
    part, size, critical, received, sent, ahead, noise, present = (
        values[number] for values, number in zip(HEADS.values(), numbers, strict=True)
    )
    return Choice(
        PARTS[int(part)],
        size,
        bool(critical),
        received,
        sent,
        ahead,
        noise,
        bool(present),
    )


def _relevant() -> np.ndarray:
    """Return whether each head matters, (parts, H)."""
    table = np.ones((len(PARTS), len(HEADS)), dtype=bool)
    of_rule = [name in ("received", "sent", "ahead", "noise", "present") for name in NAMES]
    of_part = [name in ("size", "critical") for name in NAMES]
    table[PARTS.index("moved"), of_rule] = False
    table[PARTS.index("all"), of_part] = False
    return table


RELEVANT = _relevant()
"""Whether a head matters, (parts, H) bool."""


@dataclass
class RebuildWalk:
    """The T steps of one sample.

    Attributes
    ----------
    actions
        (T, 1 + H) the seed of each step's random numbers, and the number of each head's value.
    features
        (T, F) what each step read.
    losses
        (T + 1,) the loss of the placement before each step, and at the end.
    devices
        (V,) the placement so far, which is the best one.
    """

    actions: Ints
    features: Floats
    losses: Floats
    devices: Ints


class Lane:
    """One walk while it is taken; it begins with the repaired start if constraints forbid that.

    Attributes
    ----------
    walk
        The steps so far.
    """

    def __init__(self, one: RebuildProblem, start: Ints, steps: int, evaluator: Evaluator) -> None:
        devices = start.astype(np.int32)
        if one.problem.feasibility.violation(devices) is not None:
            devices = feasible(one.problem, devices).devices
        self.walk = RebuildWalk(
            actions=np.zeros((steps, 1 + len(COUNTS)), np.int64),
            features=np.zeros((steps, FEATURES)),
            losses=np.full(steps + 1, evaluator.loss(devices)[0]),
            devices=devices,
        )
        self._one, self._evaluator = one, evaluator
        self._helped = 0.0
        self._observe()

    def features(self, t: int) -> Floats:
        """Record and return what step t reads, (F,)."""
        walk = self.walk
        fall = np.log((walk.losses[0] + SHORTEST_S) / (walk.losses[t] + SHORTEST_S))
        episode = [t / len(walk.actions), self._helped, min(4.0, 4.0 * fall)]
        read: Floats = np.concatenate([self._one.features, episode])
        walk.features[t] = read
        return read

    def act(self, t: int, action: Ints) -> None:
        """Take step t by an action, (1 + H,)."""
        walk = self.walk
        walk.actions[t] = action
        rng = np.random.default_rng(int(action[0]))
        made = self._made(choice_of(action[1:].tolist()), rng)
        walk.losses[t + 1] = walk.losses[t]
        self._helped *= FADING
        if made is None or np.array_equal(made, walk.devices):
            return
        loss = float(self._evaluator.loss(made)[0])
        if loss > walk.losses[t]:
            return
        if loss < walk.losses[t]:
            self._helped += 1.0 - FADING
        walk.devices, walk.losses[t + 1] = made, loss
        self._observe()

    def _observe(self) -> None:
        """Read the times of the present placement."""
        scored, devices = self._one.scored, self.walk.devices
        order = scored.best(devices)[1]
        table = timetable(scored.tasks, order, devices, scored.compiled.noises[0])
        self._start, self._end = table.start, table.end
        self._table = table

    def _critical(self) -> list[int]:
        """Return the operators of the critical path of the present placement."""
        return [step.number for step in self._table.critical_path if step.kind == "operator"]

    def _made(self, choice: Choice, rng: np.random.Generator) -> Ints | None:
        """Return the placement that a step tries, (V,); None if it violates constraints."""
        taken = self._part(choice, rng)
        if choice.part == "moved":
            return self._moved(taken, rng)
        one, compiled = self._one, self._one.scored.compiled
        tasks, rules = compiled.tasks, compiled.rules
        is_kept = np.ones(len(rules.row_of), np.bool_)
        is_kept[rules.unit_of[taken]] = False
        added = choice.ahead * one.ahead
        if choice.noise > 0.0:
            scale = choice.noise * self._end.max() / one.size
            added = added + scale * rng.standard_exponential(added.shape)
        rank = self._start.max() - self._start if choice.present else one.rank
        is_feasible = schedule_part(
            tasks.columns,
            rules,
            rank,
            Weights(choice.received, choice.sent, added),
            Present(self.walk.devices, is_kept),
            one.memory,
        )
        return one.memory.devices.copy() if is_feasible else None

    def _part(self, choice: Choice, rng: np.random.Generator) -> Ints:
        """Return the operators that are placed anew."""
        one = self._one
        if choice.part == "all":
            return np.arange(one.size, dtype=np.int32)
        size = max(2, round(one.size**choice.size))
        first = int(rng.choice(self._critical()) if choice.critical else rng.integers(one.size))
        if choice.part == "window":
            middle = self._start + self._end
            nearest = np.argsort(np.abs(middle - middle[first]), kind="stable")
            return nearest[:size].astype(np.int32)
        drawn = rng.standard_exponential(len(one.neighbours.operator))
        keys = drawn if choice.part == "near" else -one.neighbours.seconds * drawn**SPREAD
        devices = self.walk.devices if choice.part in ("own", "moved") else NO_DEVICES
        taken = np.zeros(one.size, np.bool_)
        grow(one.neighbours, first, size, keys, devices, no_events(len(keys) + 1), taken)
        return np.flatnonzero(taken).astype(np.int32)

    def _moved(self, taken: Ints, rng: np.random.Generator) -> Ints | None:
        """Return the placement with a part on another device, (V,)."""
        one, rules, devices = self._one, self._one.scored.compiled.rules, self.walk.devices
        here = devices[taken[0]]
        others = np.delete(np.arange(one.scored.compiled.tasks.devices), here)
        if rng.random() < NEIGHBOURING:
            first, other = one.neighbours.first, one.neighbours.operator
            near = np.unique(
                np.concatenate([devices[other[first[v] : first[v + 1]]] for v in taken])
            )
            others = near[near != here] if np.any(near != here) else others
        if not len(others):
            return None
        made = devices.copy()
        made[np.isin(rules.unit_of, rules.unit_of[taken])] = others[rng.integers(len(others))]
        return made if one.problem.feasibility.violation(made) is None else None
