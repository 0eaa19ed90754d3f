"""Sizes of the built-in networks, validated when they are read."""

from collections import Counter
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from streamplace.problem.objectives import OrderName

Length = Annotated[int, Field(ge=1, le=8192)]
SmallCount = Annotated[int, Field(ge=1, le=64)]
Finite = Annotated[float, Field(ge=-1e6, le=1e6)]
Scale = Annotated[float, Field(ge=1e-6, le=1e6)]
MAX_PLACEMENTS = 2**20
"""The maximum number of placements of one problem that a policy makes or learns from at once."""
EXPERTS = {"least-utilisation": "throughput", "critical-path": "makespan"}
"""The experts of `policy.teachers`, with the quantity of the objectives that each supports."""
MAX_TYPES = 1024
"""The maximum number of types of operators that a policy tells apart."""

SourcesFirst: TypeAlias = Literal[
    "longest-path", "topo-lifo", "topo-level", "b-level", "by-depth", "by-path"
]
"""An order in which the inputs of every operator come first."""

HsdagFeature = Literal["type", "size", "shape", "degree", "fractal", "position", "cost", "stream"]


class StrictModel(BaseModel):
    """A model that rejects unknown fields and does not convert types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class DeviceScorerSizes(StrictModel):
    """Sizes of the device scorer; see `policy.device_scorer`."""

    hidden: Length = Field(128, description="embedding size")
    hops: SmallCount = Field(4, description="message-passing rounds")
    orders: list[Literal[0, 1, OrderName]] = Field(
        [0],
        min_length=1,
        description="decoding orders that samples cycle through: names of traversal orders; 0 is "
        "`by-depth`, 1 is `by-path`",
    )


class EncoderDecoderSizes(StrictModel):
    """Sizes of the networks of Ni et al. (AAAI 2020); see `policy.ni2020`."""

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
    hops: SmallCount = Field(2, description="K, the number of message-passing rounds")
    device_length: Length = Field(64, description="size of device embeddings")
    devices: Annotated[int, Field(ge=1, le=2048)] = Field(
        5, description="the number of devices, which is fixed"
    )
    breaks_symmetry: bool = Field(
        False,
        description="offer only the first of several equal devices that run nothing; not in the "
        "paper, but leaves one labelling per placement instead of one per permutation of devices",
    )


class ReleasedSizes(StrictModel):
    """Sizes of the network of Ni et al.'s released code; see `policy.ni2020.released`."""

    length: Annotated[int, Field(ge=4, le=8192, multiple_of=4)] = Field(
        512, description="size of embeddings of operators and devices, and of the decoder's state"
    )
    devices: Annotated[int, Field(ge=1, le=2048)] = Field(
        5, description="the number of devices, which is fixed"
    )
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


class PlacetoSizes(StrictModel):
    """Sizes of Placeto (Addanki et al. 2019); see `policy.placeto`."""

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


class GiphSizes(StrictModel):
    """Sizes of GiPH (Hu et al. 2023) and its ablations; see `policy.giph`."""

    variant: Literal["giph", "giph-k", "giph-ne", "giph-ne-pol", "graphsage-ne", "task-eft"] = (
        Field("giph", description="the network: GiPH, or one of the paper's ablations")
    )
    rounds: Annotated[int, Field(ge=1, le=64)] = Field(
        3, description="synchronous rounds of message passing of `giph-k`"
    )
    length: Length = Field(5, description="size of embeddings in each direction")
    hidden: Length = Field(16, description="size of the hidden layer before the logits")
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


class DopplerSizes(StrictModel):
    """Sizes of DOPPLER (Yao et al. 2026) and its ablations; see `policy.doppler`."""

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
    rounds: SmallCount = Field(6, description="K, the number of message-passing rounds")
    hidden: Length = Field(64, description="size of the hidden layer before the logits")
    per_step: bool = Field(
        False,
        description="pass messages at every step instead of once per episode, and read which "
        "operators are placed and when they start and end",
    )


class RebuildSizes(StrictModel):
    """Sizes of the policy that builds parts of a placement anew; see `policy.rebuild`."""

    hidden: Length = Field(16, description="size of the hidden layer")


class RnnSizes(StrictModel):
    """Sizes of the RNN placer of GiPH (Hu et al. 2023); see `policy.rnn`."""

    hidden: Length = Field(64, description="size of the states of encoder and decoder")
    devices: Annotated[int, Field(ge=1, le=2048)] = Field(
        20, description="the number of devices, which is fixed"
    )
    # the attention of V steps to V operators keeps V x V x `hidden` numbers per sample
    operators: Annotated[int, Field(ge=1, le=512)] = Field(
        64, description="largest number of operators"
    )
    out_streams: Annotated[int, Field(ge=0, le=1024)] = Field(
        32, description="largest number of streams out of an operator"
    )
    labels: list[str] = Field(
        [f"type{number}" for number in range(5)],
        max_length=256,
        description="labels of devices that operators may require; by default, GiPH's types",
    )
    order: OrderName = Field(
        "topo-level", description="traversal order in which the operators are read and placed"
    )
    frozen_attention: bool = Field(
        False,
        description="leave the attention's weights untrained, as the released code does by mistake",
    )


class HsdagSizes(StrictModel):
    """Sizes of HSDAG (Duan et al. 2024); see `policy.hsdag`."""

    hidden: Length = Field(128, description="size of embeddings")
    rounds: SmallCount = Field(2, description="graph convolutions before edges are scored")
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
    degrees: SmallCount = Field(8, description="distinguished degrees; larger ones share a column")
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
    levels: SmallCount = Field(1, description="how often groups are grouped")
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
