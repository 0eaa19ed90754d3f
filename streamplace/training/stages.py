"""Stages of a training run: what trains, on what reward, for how long, at which rates.

A config has one ``[[stage]]`` table a stage. Stages follow one another; each goes on with the
parameters of the one before, and with the good placements that it knows.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from streamplace.errors import StreamplaceError
from streamplace.placers.registry import make_placer
from streamplace.policy.config import MOST_PLACEMENTS, StrictModel
from streamplace.problem.objective import Model
from streamplace.training.limits import (
    Count,
    CountOrNone,
    NonNegativeFloat,
    Placements,
    PositiveFloat,
    Rate,
    Share,
)


def as_value(read: Callable[[str], object], text: str) -> str:
    """Return text that a reader accepts; pydantic wants a ValueError where it does not."""
    try:
        read(text)
    except StreamplaceError as error:
        raise ValueError(str(error)) from None
    return text


PlacerName = Annotated[str, AfterValidator(partial(as_value, partial(make_placer, from_file=True)))]


class OptimiserSection(StrictModel):
    """Adam, and the schedule of its learning rate."""

    rate: Rate = Field(1e-3, description="Adam's learning rate, at first")
    final_rate: Rate | None = Field(
        None, description="the learning rate at the end; the same as rate if absent"
    )
    schedule: Literal["cosine", "linear"] = Field(
        "cosine", description="the way from rate to final_rate"
    )
    warm_up: CountOrNone = Field(0, description="steps in which the rate rises to its first value")
    largest_gradient: NonNegativeFloat = Field(0.0, description="norm to clip at; 0: no clipping")


class MemorySection(StrictModel):
    """The best placements found of every problem."""

    size: Placements = Field(3, description="placements kept of each problem")
    threshold: float | None = Field(
        None,
        allow_inf_nan=False,
        description="reward from which a placement is kept; if absent 0.8 where the reward is "
        "relative, and none where it is log",
    )
    samples: Placements = Field(3, description="learned from beside the on-policy ones")
    only_better: bool = Field(
        False, description="placements not sampled in this step never lower their probability"
    )
    imitate: NonNegativeFloat = Field(0.0, description="weight of the best one's log-likelihood")


class Stage(StrictModel):
    """What every algorithm's stage has."""

    epochs: Count = Field(description="passes over the problems")
    problems_per_step: Count = Field(1, description="problems that a step looks at")
    scores_per_step: CountOrNone = Field(
        0, description="the most operators x devices of a step, for large problems; 0: no limit"
    )
    reward: Literal["relative", "log"] = Field(
        "relative",
        description="quality (relative throughput), or log(quality / best possible quality)",
    )
    model: Model | None = Field(
        None, description="the model that rewards follow from; the problems' own if absent"
    )
    optimiser: OptimiserSection | None = Field(
        None,
        description="a new optimiser; if absent, that of the stage before goes on, and its "
        "schedule spans both stages",
    )


class ImitationStage(Stage):
    """Imitation of a teacher's placements: their log-likelihood is maximised."""

    algorithm: Literal["imitation"]
    epochs: CountOrNone = Field(description="0 hands the teacher's placements to the next stage")
    teacher: PlacerName = Field(description="the placer whose placements are imitated")


class DaggerStage(Stage):
    """Imitation of an expert in the states that the policy itself comes to (Ross et al. 2011)."""

    algorithm: Literal["dagger"]
    teacher: Literal["least-utilisation"] = Field(
        "least-utilisation",
        description="the expert; so far there is one: the device on which the largest utilisation "
        "stays lowest",
    )
    ties: Literal["any", "each"] = Field(
        "any", description="equally good actions: log of their total probability, or sum of logs"
    )
    samples: Annotated[Placements, Field(ge=1)] = Field(1, description="placements of each problem")
    exploration: Share = Field(0.0, description="probability of a uniform choice, at first")
    final_exploration: Share | None = Field(None, description="at the end; the same if absent")
    greedy: bool = Field(
        False, description="take the likeliest device wherever it does not explore (ε-greedy)"
    )
    entropy: NonNegativeFloat = Field(0.0, description="weight of the decisions' entropy")


class ReinforceStage(Stage):
    """REINFORCE (Williams 1992), with a memory buffer of the best placements found."""

    algorithm: Literal["reinforce"]
    samples: Annotated[Placements, Field(ge=1)] = Field(
        3, description="on-policy placements of each problem"
    )
    exploration: Share = Field(0.0, description="probability of a uniform choice, at first")
    final_exploration: Share | None = Field(None, description="at the end; the same if absent")
    greedy: bool = Field(
        False, description="take the likeliest device wherever it does not explore (ε-greedy)"
    )
    random_samples: Annotated[float, Field(ge=0, le=MOST_PLACEMENTS)] = Field(
        0.0, description="random placements beside them, at first"
    )
    random_decay: PositiveFloat = Field(
        1.0, description="epochs in which their number falls to 1/e"
    )
    random_if_empty: Placements = Field(
        0, description="more of them while the memory of a problem is empty"
    )
    normalise: bool = Field(False, description="divide advantages by their standard deviation")
    entropy: NonNegativeFloat = Field(0.0, description="weight of the decisions' entropy")
    per_decision: bool = Field(False, description="gradients are means over decisions")
    memory: MemorySection = MemorySection()

    @property
    def threshold(self) -> float:
        """The reward from which a placement is kept."""
        if self.memory.threshold is not None:
            return self.memory.threshold
        return 0.8 if self.reward == "relative" else -math.inf

    @model_validator(mode="after")
    def _can_learn(self) -> Self:
        memory = self.memory
        if memory.imitate and not (memory.size and memory.samples):
            raise ValueError("memory.imitate: needs memory.size and memory.samples above 0")
        others = min(memory.size, memory.samples) + self.random_samples + self.random_if_empty
        if self.samples + others <= 1:
            raise ValueError("samples: one placement alone is no better than its mean")
        return self


AnyStage: TypeAlias = Annotated[
    ImitationStage | DaggerStage | ReinforceStage, Field(discriminator="algorithm")
]


def stage_at(stages: Sequence[Stage], epoch: int) -> int:
    """Return the number of the stage that an epoch of the run belongs to."""
    end = 0
    for number, stage in enumerate(stages):
        end += stage.epochs
        if epoch < end:
            return number
    return len(stages) - 1


def first_epochs(stages: Sequence[Stage]) -> list[int]:
    """Return the first epoch of each stage, and the number of all epochs."""
    firsts = [0]
    for stage in stages:
        firsts.append(firsts[-1] + stage.epochs)
    return firsts


def schedule_span(stages: Sequence[Stage], number: int) -> tuple[int, int]:
    """Return the epochs, first and one past the last, of the schedule that a stage belongs to."""
    firsts = first_epochs(stages)
    first = number
    while first > 0 and stages[first].optimiser is None:
        first -= 1
    last = number + 1
    while last < len(stages) and stages[last].optimiser is None:
        last += 1
    return firsts[first], firsts[last]
