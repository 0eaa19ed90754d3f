"""Stages of a training run: algorithm, reward, epochs and learning rate.

A config has one ``[[stage]]`` table per stage. Stages run in order; each starts from the parameters
and the good placements of the previous one. Installed packages add algorithms by entry points.
"""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import AfterValidator, Field, model_validator

from streamplace.errors import StreamplaceError, UsageError
from streamplace.learning.policy.config import EXPERTS, MAX_PLACEMENTS, StrictModel
from streamplace.placers.base import supported_in_words
from streamplace.placers.registry import NAMES, class_of, make_placer
from streamplace.problem.objective import Model, Objective
from streamplace.util.entry_points import ours
from streamplace.util.plugins import installed, load_installed, load_ours

GROUP = "streamplace.stages"
"""The entry-point group in which packages register forms of stages by the name of the algorithm."""
ALGORITHMS = "streamplace.learning.training.algorithms."
_log = logging.getLogger(__name__)
LARGEST_SEED = 2**62
MAX_COUNT = 2**53
"""The largest allowed count."""

Count = Annotated[int, Field(ge=1, le=MAX_COUNT)]
CountOrZero = Annotated[int, Field(ge=0, le=MAX_COUNT)]
Placements = Annotated[int, Field(ge=0, le=MAX_PLACEMENTS)]
Share = Annotated[float, Field(ge=0, le=1)]
PositiveFloat = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegativeFloat = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Rate = Annotated[float, Field(gt=0, le=1e30)]  # well below the largest 32-bit float
Window = Annotated[int, Field(ge=1, le=10**6)]
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]

# keys of several algorithms
Exploration = Annotated[
    Share, Field(description="initial probability of a uniformly random choice")
]
FinalExploration = Annotated[
    Share | None, Field(description="final probability; if absent, it is constant")
]
Greedy = Annotated[
    bool, Field(description="take the most probable device unless exploring (ε-greedy)")
]
Entropy = Annotated[NonNegativeFloat, Field(description="weight of the entropy bonus")]
Decay = Annotated[PositiveFloat, Field(description="epochs over which that number falls to 1/e")]

OF_LOSSES = ("log-loss", "sqrt-loss", "loss")
"""The kinds of rewards that depend on the loss alone."""


class OptimiserSection(StrictModel):
    """Adam and its learning-rate schedule."""

    rate: Rate = Field(1e-3, description="Adam's initial learning rate")
    final_rate: Rate | None = Field(
        None, description="final learning rate; if absent, the rate is constant"
    )
    schedule: Literal["cosine", "linear"] = Field(
        "cosine", description="shape of the decay from `rate` to `final_rate`"
    )
    warm_up: CountOrZero = Field(0, description="steps over which the rate first rises linearly")
    largest_gradient: NonNegativeFloat = Field(
        0.0, description="norm at which gradients are clipped; 0: no clipping"
    )


class MemorySection(StrictModel):
    """The memory buffer of the best placements found for each problem."""

    size: Placements = Field(3, description="placements stored per problem")
    threshold: float | None = Field(
        None,
        allow_inf_nan=False,
        description="smallest reward of a stored placement; if absent, 0.8 for the reward "
        "`relative`, otherwise no limit",
    )
    samples: Placements = Field(
        3, description="stored placements per problem added to the samples of a step"
    )
    only_better: bool = Field(
        False,
        description="added placements only ever raise their own probability, never lower it",
    )
    imitate: NonNegativeFloat = Field(
        0.0, description="weight of the best stored placement's log-likelihood"
    )


def as_value(read: Callable[[str], object], text: str) -> str:
    """Return text that `read` accepts; otherwise raise the ValueError that pydantic needs."""
    try:
        read(text)
    except StreamplaceError as error:
        raise ValueError(str(error)) from None
    return text


PlacerName = Annotated[str, AfterValidator(partial(as_value, partial(make_placer, from_file=True)))]


class Stage(StrictModel):
    """The settings common to all stages.

    The form of an algorithm derives from it, with a key `algorithm` whose only value is its name.
    It is loaded with every config, so that its module imports no algorithm.

    Attributes
    ----------
    path
        ``module:Class`` of the algorithm, a subclass of `algorithms.base.Algorithm`.
    """

    path: ClassVar[str]
    algorithm: str = ""
    epochs: Count = Field(description="number of passes over the problems")
    problems_per_step: Count = Field(1, description="problems per step")
    scores_per_step: CountOrZero = Field(
        0,
        description="largest sum of operators x devices in a step, to bound memory; 0: no limit",
    )
    reward: Literal["relative", "log", "log-loss", "sqrt-loss", "loss"] = Field(
        "relative",
        description="`relative`: relative throughput; `log`: log(throughput / upper bound); of a "
        "makespan, the lower bound over it and the log of that; `log-loss`: -log of the largest "
        "utilisation, or of the makespan in seconds; `sqrt-loss`: minus the square root of these; "
        "`loss`: minus these themselves",
    )
    model: Model | None = Field(
        None, description="throughput model of the rewards; if absent, the problems' own"
    )
    optimiser: OptimiserSection | None = Field(
        None,
        description="starts a new optimiser; if absent, the previous stage's optimiser continues "
        "and its schedule spans both stages",
    )

    @classmethod
    def of(cls, keys: Mapping[str, Any]) -> Self:
        """Return the stage of a ``[[stage]]`` table of a config, by its algorithm.

        Raises
        ------
        ValueError
            If a value is wrong.
        """
        form = forms()[keys["algorithm"]]
        assert issubclass(form, cls), f"{form} is no {cls}"
        return form.model_validate(keys)

    def changed(self, **keys: Any) -> Self:
        """Return the stage with other values of some keys.

        Raises
        ------
        ValueError
            If a value is wrong.
        """
        return self.model_validate(self.model_dump() | keys)

    def fault_under(self, objective: Objective) -> tuple[str, str, str] | None:
        """Return key, fault and remedy if the stage cannot learn under an objective."""
        if self.model is not None and not objective.has_rates:
            return "model", f"{self.model!r} is a model of throughput", "leave it out"
        return None


class MeasurableStage(Stage):
    """A stage whose rewards are simulated, or made of measured running times."""

    measurements: CountOrZero = Field(
        0,
        description="rewards are made of measured running times in seconds; the stage ends once so "
        "many placements of each problem are measured; 0: rewards are simulated",
    )

    @model_validator(mode="after")
    def _of_seconds(self) -> Self:
        if self.measurements and self.reward not in OF_LOSSES:
            choices = " or ".join(map(repr, OF_LOSSES))
            raise ValueError(f"reward: measured running times need {choices} (got {self.reward!r})")
        if self.measurements and self.model is not None:
            raise ValueError("model: running times are measured, not simulated; leave it out")
        return self


class ImitationStage(Stage):
    """Imitation of a teacher's placements, by maximising their log-likelihood."""

    path: ClassVar[str] = ALGORITHMS + "imitation:Imitation"
    algorithm: Literal["imitation"]
    epochs: CountOrZero = Field(
        description="passes over the problems; 0: only pass the teacher's placements to the "
        "next stage"
    )
    teacher: PlacerName = Field(description="placer whose placements are imitated")


class DaggerStage(Stage):
    """Imitation of an expert in the states that the policy itself visits (Ross et al. 2011)."""

    path: ClassVar[str] = ALGORITHMS + "imitation:Dagger"
    algorithm: Literal["dagger"]
    teacher: Literal["least-utilisation", "critical-path"] = Field(
        "least-utilisation",
        description="the expert: `least-utilisation`: the device that keeps the largest "
        "utilisation lowest, and the operator with the most work if the policy selects operators; "
        "`critical-path`, for makespans: the device of the earliest start, and the operator with "
        "the longest path to an exit",
    )
    ties: Literal["any", "each"] = Field(
        "any",
        description="likelihood of equally good actions: `any`: log of their total probability; "
        "`each`: sum of their logs",
    )
    samples: Annotated[Placements, Field(ge=1)] = Field(
        1, description="sampled placements per problem"
    )
    exploration: Exploration = 0.0
    final_exploration: FinalExploration = None
    greedy: Greedy = False
    entropy: Entropy = 0.0

    def fault_under(self, objective: Objective) -> tuple[str, str, str] | None:
        """Return the fault of the model or the teacher, if there is one; see `Stage`."""
        needed = EXPERTS[self.teacher]
        if objective.quantity != needed:
            suited = [name for name, quantity in EXPERTS.items() if quantity == objective.quantity]
            remedy = f"use {suited[0]!r}" if suited else "use another algorithm"
            return "teacher", f"{self.teacher!r} supports only {needed}", remedy
        return super().fault_under(objective)


class ReinforceStage(MeasurableStage):
    """REINFORCE (Williams 1992) with a memory buffer of the best placements found."""

    path: ClassVar[str] = ALGORITHMS + "reinforce:Reinforce"
    algorithm: Literal["reinforce"]
    samples: Annotated[Placements, Field(ge=1)] = Field(
        3, description="sampled placements per problem"
    )
    exploration: Exploration = 0.0
    final_exploration: FinalExploration = None
    greedy: Greedy = False
    random_samples: Annotated[float, Field(ge=0, le=MAX_PLACEMENTS)] = Field(
        0.0, description="initial number of random placements added per problem"
    )
    random_decay: Decay = 1.0
    random_if_empty: Placements = Field(
        0, description="additional random placements while a problem's memory is empty"
    )
    learns_from_random: bool = Field(
        True,
        description="whether a step learns from its random placements, which the policy did not "
        "sample; otherwise they only enter the memory, as in the released code of Ni et al. The "
        "paper does not say",
    )
    baseline: Literal["step", "running"] = Field(
        "step",
        description="what advantages are rewards above: `step`: the mean reward of the problem's "
        "placements in the step; `running`: the mean of these means over steps, this one included",
    )
    window: Window = Field(1000, description="steps of a problem over which `running` is a mean")
    discount: Share = Field(
        1.0, description="weight of a decision per later decision of its placement"
    )
    normalise: bool = Field(
        False,
        description="divide advantages by their root mean square, with the baseline `step` their "
        "standard deviation",
    )
    entropy: Entropy = 0.0
    per_decision: bool = Field(
        False, description="average the gradient over decisions instead of problems"
    )
    memory: MemorySection = MemorySection()

    @property
    def threshold(self) -> float:
        """The smallest reward of a stored placement."""
        if self.memory.threshold is not None:
            return self.memory.threshold
        return 0.8 if self.reward == "relative" else -math.inf

    @model_validator(mode="after")
    def _can_learn(self) -> Self:
        memory = self.memory
        if memory.imitate and not (memory.size and memory.samples):
            raise ValueError("memory.imitate: requires memory.size and memory.samples above 0")
        others = min(memory.size, memory.samples) + self.random_samples + self.random_if_empty
        if self.samples + others <= 1 and self.baseline == "step":
            raise ValueError("samples: learning needs at least 2 placements per problem")
        return self


class StepReinforceStage(MeasurableStage):
    """REINFORCE with a reward and a baseline per step, for policies that refine placements."""

    path: ClassVar[str] = ALGORITHMS + "step_reinforce:StepReinforce"
    algorithm: Literal["reinforce-steps"]
    samples: Annotated[Placements, Field(ge=1)] = Field(
        1, description="episodes per problem and step"
    )
    reward: Literal["relative", "log", "log-loss"] = Field(
        "log-loss",
        description="only `log-loss`; see `step_reward`",
    )
    step_reward: Literal["log", "loss", "best"] = Field(
        "log",
        description="the reward of a step: `log`: the fall of the log of the loss; `loss`: the "
        "fall of the loss itself, in seconds or as a utilisation; `best`: the fall of the log of "
        "the lowest loss of the episode so far",
    )
    start: PlacerName = Field("single", description="placer of the first episode's start")
    restart: Literal["best", "start", "anew"] = Field(
        "best",
        description="where later episodes start: `best`: from the best placement of all updated "
        "episodes; `start`: from the first episode's start; `anew`: each from a new placement by "
        "the placer `start`, such as `random`",
    )
    evaluate_every: CountOrZero = Field(
        5,
        description="every so many epochs, beginning with the first, episodes take the most "
        "likely devices, without an update; the next episodes do not start from what they find; "
        "0: never",
    )
    discount: Share = Field(1.0, description="discount of later rewards per step")
    baseline: Literal["episodes", "samples", "none"] = Field(
        "episodes",
        description="what is subtracted from the return of each step: `episodes`: the mean return "
        "of the same step of the episodes so far; `samples`: that of the problem's other episodes "
        "of the update, which all start from one placement (needs `samples` of 2 or more); `none`: "
        "0",
    )
    window: Window = Field(
        1000, description="episodes over which the baseline of each step is a mean"
    )
    entropy: Entropy = 1.0
    final_entropy: NonNegativeFloat | None = Field(
        None, description="final weight; if absent, it is constant"
    )
    exploration: Exploration = 0.0
    final_exploration: FinalExploration = None

    @model_validator(mode="after")
    def _of_losses(self) -> Self:
        if self.reward != "log-loss":
            raise ValueError(f"reward: must be 'log-loss' (got {self.reward!r})")
        if self.baseline == "samples" and self.samples == 1:
            raise ValueError("baseline: 'samples' needs samples of 2 or more (got 1)")
        return self

    def fault_under(self, objective: Objective) -> tuple[str, str, str] | None:
        """Return the fault of the model or the start, if there is one; see `Stage`."""
        name, *options = self.start.split(":")
        weights = any(option.startswith("file=") for option in options)  # they may support all
        known = class_of(name) if name in NAMES and not weights else None
        if known is not None and not known.places_for(objective.quantity):
            fault = f"placer {name!r} supports only {supported_in_words(known.objectives)}"
            return "start", fault, "choose another placer"
        return super().fault_under(objective)


def measured_stages(stages: Sequence[Stage]) -> list[int]:
    """Return the numbers of the stages whose rewards are measured."""
    return [
        number
        for number, stage in enumerate(stages)
        if isinstance(stage, MeasurableStage) and stage.measurements
    ]


BUILT_IN: Mapping[str, type[Stage]] = {
    "imitation": ImitationStage,
    "dagger": DaggerStage,
    "reinforce": ReinforceStage,
    "reinforce-steps": StepReinforceStage,
}


@cache
def forms() -> dict[str, type[Stage]]:
    """Return the forms of stages by algorithm, also those of installed packages.

    One of a package that cannot be used is left out, with a warning.
    """
    known = dict(BUILT_IN)
    known |= {name: load_ours(path) for name, path in ours(GROUP).items()}
    for name, point in installed(GROUP).items():
        if name not in known:
            try:
                known[name] = _check_form(load_installed(point, "stage"), name, point.value)
            except UsageError as error:
                _log.warning("%s; training goes on without this algorithm", error)
    return known


def _check_form(form: Any, name: str, where: str) -> type[Stage]:
    if not (isinstance(form, type) and issubclass(form, Stage)):
        fault = "must be a subclass of streamplace.learning.training.stages.Stage"
        raise UsageError(f"stage {name!r}: {where} {fault}")
    if get_args(form.model_fields["algorithm"].annotation) != (name,):
        raise UsageError(f"stage {name!r}: {where} must have the key algorithm: Literal[{name!r}]")
    return form
