"""Tables within the stages of a training config: the optimiser and the memory."""

from typing import Literal

from pydantic import Field

from streamplace.policy.config import StrictModel
from streamplace.training.limits import CountOrZero, NonNegativeFloat, Placements, Rate


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
        "`relative` and no limit for `log`",
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
