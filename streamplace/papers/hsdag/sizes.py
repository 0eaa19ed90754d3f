"""Sizes of HSDAG, validated when they are read."""

from collections import Counter
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from streamplace.learning.policy.config import PolicyKind, StrictModel

MAX_TYPES = 1024
"""The maximum number of types of operators that the policy tells apart."""
HsdagFeature = Literal["type", "size", "shape", "degree", "fractal", "position", "cost", "stream"]


class HsdagSizes(StrictModel):
    """Sizes of HSDAG (Duan et al. 2024); see `papers.hsdag`."""

    hidden: Annotated[int, Field(ge=1, le=8192)] = Field(128, description="size of embeddings")
    rounds: Annotated[int, Field(ge=1, le=64)] = Field(
        2, description="graph convolutions before edges are scored"
    )
    features: list[HsdagFeature] = Field(
        ["type", "size", "degree", "fractal", "position", "cost"],
        min_length=1,
        description="features of an operator: its `type`, the `size` or `shape` of its output, its "
        "`degree`s, its `fractal` dimension, its topological `position`, its `cost` on each "
        "device, and as part of a `stream` its utilisation, its traffic and its selectivity",
    )
    types: list[str] = Field(
        [],
        max_length=MAX_TYPES,
        description="types of operators; all others count as one further type",
    )
    degrees: Annotated[int, Field(ge=1, le=64)] = Field(
        8, description="distinguished degrees; larger ones share a column"
    )
    encoding: Annotated[int, Field(ge=0, le=512, multiple_of=2)] = Field(
        16, description="size of the sinusoidal encoding of the position"
    )
    devices: Annotated[int, Field(ge=1, le=2048)] = Field(
        2, description="the number of devices, which is fixed unless the policy has `capacity`"
    )
    pooling: Literal["mean", "sum"] = Field(
        "mean",
        description="how the vector of a group follows from its members: `sum`, as published, also "
        "grows with the number of its inner edges, so that large groups are decided at the start",
    )
    chains: bool = Field(True, description="join chains of operators before anything is learned")
    levels: Annotated[int, Field(ge=1, le=64)] = Field(
        1, description="how often groups are grouped"
    )
    min_groups: Annotated[int, Field(ge=0, le=2**31 - 1)] = Field(
        0, description="number of groups from which on none are joined; 0: four per device"
    )
    heaviest: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        0.0,
        description="largest cost of groups that are joined, as a share of what a device has if "
        "all work is shared evenly; 0: no limit",
    )
    acyclic: bool = Field(
        False, description="join no groups that would be on a cycle of groups, for fusion into PEs"
    )
    edge_traffic: bool = Field(False, description="read the traffic of edges when scoring them")
    capacity: bool = Field(
        False,
        description="place the groups one by one, the heaviest first, and read the loads of "
        "devices so far; for any number of devices",
    )
    steps: Annotated[int, Field(ge=1, le=100_000)] = Field(20, description="steps of an episode")
    updates: bool = Field(
        True, description="add the vectors of the groups to the features after each step"
    )
    dropout: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.0, description="dropout when gradients are computed, 0.2 in the paper; never in decisions"
    )

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        for name, values in (("features", self.features), ("types", self.types)):
            twice = [value for value, count in Counter(values).items() if count > 1]
            if twice:
                raise ValueError(f"{name}: {twice[0]!r:.40} is listed more than once")
        return self


KIND = PolicyKind(HsdagSizes, "streamplace.papers.hsdag.policy:Hsdag", refines=True)
