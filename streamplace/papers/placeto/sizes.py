"""Sizes of Placeto, validated when they are read."""

from typing import Annotated

from pydantic import Field

from streamplace.learning.policy.config import PolicyKind, StrictModel
from streamplace.problem.objectives import OrderName


class PlacetoSizes(StrictModel):
    """Sizes of Placeto (Addanki et al. 2019); see `papers.placeto`."""

    devices: Annotated[int, Field(ge=1, le=256)] = Field(
        3, description="the number of devices, which is fixed"
    )
    order: OrderName = Field(
        "topo-level", description="traversal order in which a sweep visits the operators"
    )
    order_seed: Annotated[int, Field(ge=0, le=2**62)] = Field(
        0, description="seed of the traversal order `random`"
    )
    rounds: Annotated[int, Field(ge=0, le=64)] = Field(
        0,
        description="synchronous rounds of message passing; 0: one pass in topological order, in "
        "which every operator hears from all of its ancestors",
    )
    closest: Annotated[int, Field(ge=0, le=8192)] = Field(
        0,
        description="parallel operators that the policy reads, those closest in start time; 0: all",
    )


KIND = PolicyKind(
    PlacetoSizes, "streamplace.papers.placeto.policy:Placeto", refines=True, imitates=True
)
