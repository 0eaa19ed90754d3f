"""The stage of GiPH's training."""

from typing import ClassVar, Literal

from pydantic import Field

from streamplace.learning.training.stages import StepReinforceStage


class GiphStage(StepReinforceStage):
    """REINFORCE per step with the baseline and the discount of GiPH (Hu et al. 2023)."""

    path: ClassVar[str] = "streamplace.papers.giph.algorithm:GiphReinforce"
    algorithm: Literal["giph"]  # type: ignore[assignment]  # another name
    baseline: Literal["episodes", "samples", "none", "steps", "earlier-steps"] = Field(  # type: ignore[assignment]  # more choices
        "episodes",
        description="`steps`: the mean reward of the episode's steps so far, the step itself "
        "included, as in GiPH's released code; `earlier-steps`: that of the steps before it; the "
        "others are those of `reinforce-steps`",
    )
    discounts_gradient: bool = Field(
        False, description="weight the gradient of step t by discount^t, as in GiPH's paper"
    )
