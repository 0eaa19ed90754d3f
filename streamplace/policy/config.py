"""Kinds of networks and their sizes, checked wherever they come from."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

Length = Annotated[int, Field(ge=1, le=8192)]
SmallCount = Annotated[int, Field(ge=1, le=64)]
MOST_PLACEMENTS = 2**20
"""Of one problem that a network makes at once, or learns from."""


class StrictModel(BaseModel):
    """No unknown fields, no conversions."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class DeviceScorerSizes(StrictModel):
    """Of our network; see `policy.device_scorer`."""

    hidden: Length = Field(128, description="length of embeddings")
    hops: SmallCount = Field(4, description="rounds of message passing")
    orders: list[Literal[0, 1]] = Field(
        [0],
        min_length=1,
        description="decoding orders that samples take in turn: level by level, path by path",
    )


class EncoderDecoderSizes(StrictModel):
    """Of the published networks; see `policy.paper`."""

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


class DeviceScorerKind(StrictModel):
    """Devices scored by one shared network."""

    kind: Literal["device-scorer"]
    sizes: DeviceScorerSizes = DeviceScorerSizes()


class EncoderDecoderKind(StrictModel):
    """An encoder, and an LSTM with attention over a fixed number of devices."""

    kind: Literal["encoder-decoder"]
    sizes: EncoderDecoderSizes = EncoderDecoderSizes()


Kind: TypeAlias = Annotated[DeviceScorerKind | EncoderDecoderKind, Field(discriminator="kind")]


def check_kind(value: Any) -> DeviceScorerKind | EncoderDecoderKind:
    """Return what a JSON value, as ``{"kind": …, "sizes": {…}}``, says.

    Raises
    ------
    ValueError
        If it says nothing we know.
    """
    try:
        checked: DeviceScorerKind | EncoderDecoderKind = TypeAdapter(Kind).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"][1:])  # after the kind
        raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from None
    return checked
