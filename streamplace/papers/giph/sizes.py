"""Sizes of GiPH, validated when they are read."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from streamplace.learning.policy.config import PolicyKind, StrictModel


class GiphSizes(StrictModel):
    """Sizes of GiPH (Hu et al. 2023) and its ablations; see `papers.giph`."""

    variant: Literal["giph", "giph-k", "giph-ne", "giph-ne-pol", "graphsage-ne", "task-eft"] = (
        Field("giph", description="the network: GiPH, or one of the paper's ablations")
    )
    rounds: Annotated[int, Field(ge=1, le=64)] = Field(
        3, description="synchronous rounds of message passing of `giph-k`"
    )
    length: Annotated[int, Field(ge=1, le=8192)] = Field(
        5, description="size of embeddings in each direction"
    )
    hidden: Annotated[int, Field(ge=1, le=8192)] = Field(
        16, description="size of the hidden layer before the logits"
    )
    potential: bool = Field(
        True, description="read how much later an operator could start on another device"
    )
    edge_means: Literal["out", "in"] = Field(
        "out",
        description="edges whose mean features nodes read in variants without messages of edge "
        "features: outgoing ones, as in the paper, or incoming ones, as in its released code",
    )
    merges_idle: bool = Field(
        True, description="offer only the first of several equal devices that run nothing"
    )
    waits: bool = Field(
        True,
        description="in `task-eft`, count the time until a device is idle; the paper's does not",
    )
    criticality: Annotated[float, Field(ge=0, le=1)] = Field(
        0.0,
        description="read how critical operators and streams are: a part of the work flows along "
        "heavy streams, and this share of the rest moves to the critical path of each schedule; "
        "0.1 in the released code; 0: do not read it",
    )
    reciprocals: bool = Field(
        False,
        description="read seconds per unit of work and of data instead of speed and bandwidth, as "
        "the released code does",
    )
    finish: bool = Field(
        False,
        description="read how much later an operator would end on another device, with the time "
        "until that device is idle",
    )

    @property
    def pair_features(self) -> int:
        """The number of features of a pair."""
        return 4 + (self.criticality > 0.0) + self.finish

    @property
    def edge_features(self) -> int:
        """The number of features of an edge between pairs."""
        return 4 + (self.criticality > 0.0)

    @model_validator(mode="after")
    def _of_pairs(self) -> Self:
        for name in ("criticality", "reciprocals", "finish"):
            if self.variant == "task-eft" and getattr(self, name):
                raise ValueError(f"{name}: features of pairs, which task-eft does not read")
        return self


KIND = PolicyKind(GiphSizes, "streamplace.papers.giph.policy:Giph", refines=True)
