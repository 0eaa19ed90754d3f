"""Kinds of policies, and the sizes of their networks, validated when they are read."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from streamplace.problem.objectives import OrderName

Length = Annotated[int, Field(ge=1, le=8192)]
SmallCount = Annotated[int, Field(ge=1, le=64)]
MAX_PLACEMENTS = 2**20
"""The maximum number of placements of one problem that a policy makes or learns from at once."""
EXPERTS = {"least-utilisation": "throughput", "critical-path": "makespan"}
"""The experts of the module `teachers`, with the quantity of the objectives that each supports."""


class StrictModel(BaseModel):
    """A model that rejects unknown fields and does not convert types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


@dataclass(frozen=True)
class PolicyKind:
    """A kind of policy.

    Parameters
    ----------
    sizes
        A pydantic model of the policy's sizes; every size has a default.
    policy
        ``module:Class``, a subclass of `base.Constructive` or `base.Refiner`. Its constructor takes
        the sizes.
    stack
        ``module:Class``, a policy that stacks several policies, such as that in
        `device_scorer.stacked`. Its constructor takes the sequence of policies. Empty if there is
        none.
    refines
        Whether the policy is a `Refiner`, which improves placements instead of building them.
    imitates
        Whether a policy that refines placements can imitate one, so that it has `Refiner.towards`.
    """

    sizes: type[BaseModel]
    policy: str
    stack: str = ""
    refines: bool = False
    imitates: bool = False


class DeviceScorerSizes(StrictModel):
    """Sizes of the device scorer; see `learning.policy.device_scorer`."""

    hidden: Length = Field(128, description="embedding size")
    hops: SmallCount = Field(4, description="message-passing rounds")
    orders: list[Literal[0, 1, OrderName]] = Field(
        [0],
        min_length=1,
        description="decoding orders that samples cycle through: names of traversal orders; 0 is "
        "`by-depth`, 1 is `by-path`",
    )


class RebuildSizes(StrictModel):
    """Sizes of the policy that builds parts of a placement anew; see `learning.policy.rebuild`."""

    hidden: Length = Field(16, description="size of the hidden layer")
