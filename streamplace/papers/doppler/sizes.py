"""Sizes of DOPPLER, validated when they are read."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from streamplace.learning.policy.config import PolicyKind, StrictModel

SourcesFirst: TypeAlias = Literal[
    "longest-path", "topo-lifo", "topo-level", "b-level", "by-depth", "by-path"
]
"""An order in which the inputs of every operator come first."""


class DopplerSizes(StrictModel):
    """Sizes of DOPPLER (Yao et al. 2026) and its ablations; see `papers.doppler`."""

    variant: Literal["doppler", "sel-only", "plc-only"] = Field(
        "doppler",
        description="which parts are learned: both; `sel-only`: operators, which go where they can "
        "start earliest; `plc-only`: devices, of operators in a fixed order",
    )
    order: SourcesFirst = Field(
        "longest-path",
        description="the order of `plc-only`, and of placements that are imitated: "
        "`longest-path`: always the candidate with the longest path to an exit; or a traversal "
        "order with sources first",
    )
    length: Annotated[int, Field(ge=1, le=512)] = Field(
        32, description="size of embeddings; 128 in the released code"
    )
    rounds: Annotated[int, Field(ge=1, le=64)] = Field(
        6, description="K, the number of message-passing rounds"
    )
    hidden: Annotated[int, Field(ge=1, le=8192)] = Field(
        64, description="size of the hidden layer before the logits"
    )
    per_step: bool = Field(
        False,
        description="pass messages at every step instead of once per episode, and read which "
        "operators are placed and when they start and end",
    )


KIND = PolicyKind(DopplerSizes, "streamplace.papers.doppler.policy:Doppler")
