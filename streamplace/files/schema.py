"""streamplace's JSON formats as pydantic models, which check files and print JSON Schema."""

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from streamplace.problem.columns import MAX_CORES
from streamplace.problem.details import MAX_SIZE
from streamplace.problem.device import MAX_SLOTS
from streamplace.problem.network import NetworkKind
from streamplace.problem.objective import Model
from streamplace.problem.parallelism import MAX_PARALLELISM, Partitioning
from streamplace.problem.resources import MAX_AMOUNT
from streamplace.problem.seconds import MAX_SECONDS
from streamplace.problem.semantics import Firing, Multicast

VERSION = 1
Number = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1)]
Title = Annotated[str, Field(min_length=0)]  # with a bound, pydantic also refuses bad Unicode
Amounts = dict[Name, Annotated[Number, Field(le=MAX_AMOUNT)]]
SecondsByKind = dict[Name, Annotated[Number, Field(le=MAX_SECONDS)] | None]
EMPTY: dict[str, Any] = {"default_factory": dict, "json_schema_extra": {"default": {}}}
"""Options of a field that is empty by default; pydantic copies a default, which takes longer."""
NO_ITEMS: dict[str, Any] = {"default_factory": list, "json_schema_extra": {"default": []}}
Shape = list[Annotated[int, Field(ge=0, le=MAX_SIZE)]]
Share = Annotated[Number, Field(le=1)]
KeySharesForm = dict[Name, Share]
Count = Annotated[int, Field(ge=1, le=MAX_PARALLELISM)]
Parallelism = Count | Literal["free"]
Version = Annotated[int, Field(ge=VERSION, le=VERSION)]


def _finite(value: dict[str, Any]) -> dict[str, Any]:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        raise ValueError("contains NaN or Infinity, which are not JSON numbers") from None
    return value


FiniteObject = Annotated[dict[str, Any], AfterValidator(_finite)]


class Form(BaseModel):
    """An object of a file: without unknown fields or conversions, and with an optional comment."""

    model_config = ConfigDict(extra="forbid", strict=True)

    comment: str | None = Field(None, description="for people; ignored by programs")


class ForeignForm(BaseModel):
    """An object of another program's file, whose other fields are ignored."""

    model_config = ConfigDict(strict=True)


class ScalingForm(Form):
    """The universal scalability law: p instances work as p / (1 + sigma (p-1) + kappa p (p-1))."""

    sigma: Share = 0.0
    kappa: Share = 0.0


class OperatorForm(Form):
    """A step of the job."""

    name: Name
    instructions: Number | None = Field(
        description="CPU instructions per tuple it processes; null: unknown"
    )
    payload_bytes: Number | None = Field(
        0.0, description="size of a tuple it emits, in bytes; null: unknown"
    )
    memory_bytes: Number = Field(0.0, description="memory it takes on its device, in bytes")
    requires: list[Name] = Field(**NO_ITEMS, description="labels that its device must have")
    instance_of: Name | None = Field(
        None, description="the operator that it is a parallel instance of"
    )
    cores: int = Field(
        1, ge=1, le=MAX_CORES, description="cores of its device that it can use at once"
    )
    resources: Amounts = Field(**EMPTY, description='amounts it takes on its device, as {"gpu": 1}')
    instructions_se: Number = Field(0.0, description="standard error of instructions; 0: exact")
    payload_bytes_se: Number = Field(0.0, description="standard error of payload_bytes; 0: exact")
    seconds_on: SecondsByKind = Field(
        **EMPTY,
        description="kind of device: seconds per tuple, instead of instructions; null: cannot run",
    )
    type: Title = Field("", description="what it does, such as conv")
    output_shape: Shape = Field(
        **NO_ITEMS, description="sizes of the axes of the tensor that it emits"
    )
    meta_op: Title = Field("", description="the operator that was divided into this one and others")
    parallelism: Parallelism | None = Field(
        None,
        description="number of instances; free: size chooses it; null: 1, which size may change",
    )
    min_parallelism: Count | None = Field(None, description="least number of instances")
    max_parallelism: Count | None = Field(None, description="largest number of instances")
    partitions: Count | None = Field(
        None,
        description="partitions that a source reads, or key groups of an operator's hash streams",
    )
    scaling: ScalingForm | None = Field(
        None, description="universal scalability law: work per tuple with p instances"
    )


class StreamForm(Form):
    """A directed edge between two operators."""

    source: Name
    target: Name
    selectivity: Number | None = Field(
        1.0, description="tuples it carries per tuple its source processes; null: unknown"
    )
    payload_bytes: Number | None = Field(
        None, description="size of a tuple, in bytes; null: as its source operator emits"
    )
    selectivity_se: Number = Field(0.0, description="standard error of selectivity; 0: exact")
    partitioning: Literal[Partitioning, ""] = Field(
        "", description="how tuples reach the instances of its target; empty: evenly"
    )
    key_shares: KeySharesForm = Field(
        **EMPTY, description="key: its share of the tuples of a hash stream"
    )


class ConstraintsForm(Form):
    """Constraints on placements."""

    pins: dict[Name, Name] = Field({}, description="operator: the device it must run on")
    colocate: list[list[Name]] = Field([], description="groups of operators that share a device")
    exlocate: list[list[Name]] = Field([], description="groups of operators, no two on one device")
    allowed: dict[Name, list[Name]] = Field({}, description="operator: devices it may run on")
    apart_groups: list[list[Name]] = Field(
        [], description="groups of operators, no two on devices of one group"
    )


class GraphForm(Form):
    """A stream graph."""

    format: Literal["streamplace-graph"] = "streamplace-graph"
    version: Version = VERSION
    name: Title = ""
    source_rate: Positive | None = Field(None, description="tuples/s over all sources")
    source_shares: dict[Name, Number] | None = Field(
        None, description="share of source_rate by source, sum 1; null: equal shares"
    )
    operators: list[OperatorForm] = Field(min_length=1)
    streams: list[StreamForm] = []
    constraints: ConstraintsForm | None = None
    firing: Firing = Field(
        "each",
        description="each: flows add up at joins; all: one tuple per operator and stream, whatever "
        "the shares and selectivities",
    )
    multicast: Multicast = Field(
        "none",
        description="messages of an operator: one per stream, one per device, or one for all other "
        "devices",
    )


class DeviceForm(Form):
    """A device, which runs operators."""

    name: Name
    mips: Positive = Field(description="million instructions/s of one core")
    cores: int = Field(1, ge=1, le=MAX_CORES)
    memory_bytes: Number | None = Field(None, description="null: no limit")
    labels: list[Name] = []
    group: Name | None = Field(None, description="the group it belongs to, such as its rack")
    resources: Amounts = Field({}, description='amounts it offers, as {"gpu": 1}')
    price: Number | None = Field(None, description="cost per unit of time; null: no price")
    kind: Name | None = Field(None, description="kind of device, a key of seconds_on")
    startup_s: Number = Field(
        0.0, description="seconds that the cores of an operator rest after it, in makespans"
    )
    overhead_s_per_byte: Number | None = Field(
        None, description="core seconds per byte sent or received; null: the network's"
    )
    slots: int | None = Field(
        None, ge=0, le=MAX_SLOTS, description="operators that may run on it; null: any number"
    )


class OverrideForm(Form):
    """Links that differ from the network; nic links have only one of from and to.

    Devices or, with from_group and to_group, all devices of a group; devices win over groups.
    """

    source: Name | None = Field(None, alias="from")
    target: Name | None = Field(None, alias="to")
    source_group: Name | None = Field(None, alias="from_group")
    target_group: Name | None = Field(None, alias="to_group")
    bandwidth_mbps: Positive | None = None
    latency_s: Number | None = None
    overhead_s: Number | None = None
    gap_s: Number | None = None


class UplinkForm(Form):
    """What the devices of a group share to and from devices that are not in it."""

    up_mbps: Positive | None = Field(None, description="leaving it, in Mbit/s; null: no limit")
    down_mbps: Positive | None = Field(None, description="entering it, in Mbit/s; null: no limit")


class NetworkForm(Form):
    """The links between devices, with the parameters of LogP."""

    kind: NetworkKind = "pair"
    bandwidth_mbps: Positive | None = Field(1000.0, description="Mbit/s; null: no limit")
    latency_s: Number = 0.001
    overhead_s: Number = 0.0
    gap_s: Number = 0.0
    overrides: list[OverrideForm] = []
    uplinks: dict[Name, UplinkForm] = Field({}, description="by group of devices")
    overhead_s_per_byte: Number = Field(0.0, description="core seconds per byte at either end")


class ClusterForm(Form):
    """Devices and the network between them."""

    format: Literal["streamplace-cluster"] = "streamplace-cluster"
    version: Version = VERSION
    devices: list[DeviceForm] = Field(min_length=1)
    network: NetworkForm = NetworkForm()


class ProblemForm(Form):
    """The problem that a placement solves."""

    graph: GraphForm
    graph_sha256: str
    cluster: ClusterForm
    source_rate: Positive | None = Field(
        None, description="tuples/s; null: the graph's, and not used for makespans"
    )
    source_rates: list[Positive] = Field(
        [],
        description="all source rates, if several; the score is the lowest one",
    )
    constraints: ConstraintsForm = ConstraintsForm()
    model: Model = "bottleneck"
    target_utilisation: float = Field(
        1.0, gt=0, le=1, allow_inf_nan=False, description="usable share of devices and links"
    )
    objective: Title = Field(
        "throughput",
        description="throughput, makespan, or an installed package's; with its options, such as "
        "makespan:order=b-level:batch=8",
    )


class PlacementForm(Form):
    """A placement (operator -> device), its score, and the problem that it solves."""

    format: Literal["streamplace-placement"] = "streamplace-placement"
    version: Version = VERSION
    placer: Title = ""
    job: Title = Field("", description="the job's name, if several jobs share the devices")
    assignment: dict[Name, Name]
    score: FiniteObject | None = Field(None, description="as `simulate --json` prints it")
    bound: Number | None = None
    gap: Annotated[float, Field(allow_inf_nan=False)] | None = None
    confidence: FiniteObject | None = Field(
        None, description="as `place --confidence --json` prints it"
    )
    latency: FiniteObject | None = Field(
        None, description="as `place --max-latency --json` prints it"
    )
    jobs: list[FiniteObject] | None = Field(
        None, description="of several jobs as one graph: as `place --job-file --json` prints them"
    )
    problem: ProblemForm
