"""Sizes of the networks of Ni et al., validated when they are read."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, field_validator

from streamplace.learning.policy.config import PolicyKind, StrictModel
from streamplace.problem.objectives import OrderName

Finite = Annotated[float, Field(ge=-1e6, le=1e6)]
Scale = Annotated[float, Field(ge=1e-6, le=1e6)]
BreaksSymmetry: TypeAlias = Annotated[
    bool,
    Field(
        description="offer only the first of several equal devices that run nothing, which leaves "
        "one naming of devices per placement. The paper offers all of them; the released code does "
        "too, and renames the devices of a sample before it learns from it, so that it learns from "
        "placements that the policy did not sample"
    ),
]


class EncoderDecoderSizes(StrictModel):
    """Sizes of the networks of Ni et al. (AAAI 2020); see `papers.ni2020`."""

    encoder: Literal["sequence", "graph"] = Field("graph", description="`graph` is F1 of the paper")
    upstream: bool = Field(
        True,
        description="F2 of the paper: the decoder reads the devices of upstream operators, or of "
        "all placed neighbours where `order` does not put upstream operators first",
    )
    order: OrderName = Field(
        "by-depth", description="traversal order in which the decoder places operators"
    )
    length: Annotated[int, Field(ge=2, le=8192, multiple_of=2)] = Field(
        512, description="size of operator embeddings and of the decoder's state"
    )
    hops: Annotated[int, Field(ge=1, le=64)] = Field(
        2, description="K, the number of message-passing rounds"
    )
    unit_length: bool = Field(
        False,
        description="divide the embeddings of each direction by their length, as algorithm 1 of "
        "GraphSAGE, which the paper follows, and the released code do; equation 1 of the paper "
        "does not show it",
    )
    device_length: Annotated[int, Field(ge=1, le=8192)] = Field(
        64, description="size of device embeddings"
    )
    devices: Annotated[int, Field(ge=1, le=2048)] = Field(
        5, description="the number of devices, which is fixed"
    )
    breaks_symmetry: BreaksSymmetry = False


class ReleasedSizes(StrictModel):
    """Sizes of the network of Ni et al.'s released code; see `papers.ni2020.released`."""

    length: Annotated[int, Field(ge=4, le=8192, multiple_of=4)] = Field(
        512, description="size of embeddings of operators and devices, and of the decoder's state"
    )
    devices: Annotated[int, Field(ge=1, le=2048)] = Field(
        5, description="the number of devices, which is fixed"
    )
    breaks_symmetry: BreaksSymmetry = False
    means: tuple[Finite, Finite] = Field(
        (0.0, 0.0),
        description="what is subtracted from the two features, the logarithms of an operator's "
        "instructions per source tuple and of the Mbit of a tuple that it emits",
    )
    scales: tuple[Scale, Scale] = Field(
        (1.0, 1.0), description="what the two features are then divided by"
    )

    @field_validator("means", "scales", mode="before")
    @classmethod
    def _from_list(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value


ENCODER_DECODER = PolicyKind(
    EncoderDecoderSizes, "streamplace.papers.ni2020.network:EncoderDecoder"
)
RELEASED = PolicyKind(ReleasedSizes, "streamplace.papers.ni2020.released:Released")
