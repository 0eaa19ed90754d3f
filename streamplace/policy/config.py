"""Sizes of the networks that are shipped, checked wherever they come from."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Length = Annotated[int, Field(ge=1, le=8192)]
SmallCount = Annotated[int, Field(ge=1, le=64)]
MOST_PLACEMENTS = 2**20
"""The most placements of one problem that a policy makes at once, or learns from."""


class StrictModel(BaseModel):
    """A form without unknown fields and without conversions."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class DeviceScorerSizes(StrictModel):
    """Sizes of our network; see `policy.device_scorer`."""

    hidden: Length = Field(128, description="length of embeddings")
    hops: SmallCount = Field(4, description="rounds of message passing")
    orders: list[Literal[0, 1]] = Field(
        [0],
        min_length=1,
        description="decoding orders that samples take in turn: level by level, path by path",
    )


class EncoderDecoderSizes(StrictModel):
    """Sizes of the published networks; see `policy.ni2020`."""

    encoder: Literal["sequence", "graph"] = Field("graph", description="graph is F1")
    upstream: bool = Field(True, description="F2: the decoder sees where upstream operators are")
    length: Annotated[int, Field(ge=2, le=8192, multiple_of=2)] = Field(
        512, description="of an operator's embedding, and so of the decoder's state"
    )
    hops: SmallCount = Field(2, description="K, rounds of message passing")
    device_length: Length = Field(64, description="of a device's embedding")
    devices: Annotated[int, Field(ge=1, le=2048)] = Field(5, description="their fixed number")
    breaks_symmetry: bool = Field(
        False,
        description="of equal devices that run nothing only the first is offered: not in the "
        "paper, but a placement then has one name to learn instead of one for each permutation",
    )
