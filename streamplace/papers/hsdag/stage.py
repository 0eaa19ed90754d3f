"""The stage of HSDAG's training."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from streamplace.learning.training.stages import StepReinforceStage


class HsdagStage(StepReinforceStage):
    """REINFORCE per step with the rewards of HSDAG (Duan et al. 2024)."""

    path: ClassVar[str] = "streamplace.papers.hsdag.algorithm:HsdagReinforce"
    algorithm: Literal["hsdag"]  # type: ignore[assignment]  # another name
    step_reward: Literal["log", "loss", "best", "above-start", "ratio"] = Field(  # type: ignore[assignment]  # more choices
        "log",
        description="`ratio`: the loss of the episode's start over the loss after the step; "
        "`above-start`: the log of that; the others are those of `reinforce-steps`",
    )
    returns: Literal["to-go", "episode"] = Field(
        "to-go",
        description="what weights the log-probability of a step: `to-go`: the discounted rewards "
        "from the step on; `episode`: all of the episode, of which earlier ones are discounted, as "
        "in HSDAG's released code",
    )
    optimiser_steps: Annotated[int, Field(ge=1, le=1000)] = Field(
        1,
        description="steps of the optimiser that learn from the same episodes, whose probabilities "
        "are computed again before each; 4 in HSDAG's paper (K_epochs)",
    )
