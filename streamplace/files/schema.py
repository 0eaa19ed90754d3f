"""streamplace's JSON formats as pydantic models, which check files and print JSON Schema."""

import json
from collections.abc import Sequence
from dataclasses import fields as dataclass_fields
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    WrapValidator,
    create_model,
)
from pydantic_core import PydanticCustomError

from streamplace.files.schema_fields import RowColumns, columns_or_faults
from streamplace.problem.device import MAX_SLOTS
from streamplace.problem.graph_checks import Firing, Multicast
from streamplace.problem.network import NetworkKind
from streamplace.problem.objective import Model
from streamplace.problem.operators import (
    AMOUNTS,
    COUNT,
    KEY_SHARES,
    LABELS,
    MAX_CORES,
    MAX_SIZE,
    OPERATOR_FIELDS,
    OWNER,
    PARALLELISM,
    PARTITIONING,
    PARTITIONS,
    SCALING,
    SECONDS,
    SHAPE,
    STREAM_FIELDS,
    TEXT,
    Detail,
    Operator,
    Stream,
)
from streamplace.problem.operators import Field as RowField
from streamplace.problem.parallelism import MAX_PARALLELISM, Partitioning
from streamplace.problem.resources import MAX_AMOUNT
from streamplace.problem.seconds import MAX_SECONDS

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
KeySharesForm = dict[Title, Share]  # an empty text is a key
Count = Annotated[int, Field(ge=1, le=MAX_PARALLELISM)]
Parallelism = Count | Literal["free"]
Partitions = Count | Literal["flink"]
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


STORED: dict[Detail, Any] = {
    TEXT: Name,
    OWNER: Name,
    LABELS: list[Name],
    AMOUNTS: Amounts,
    SECONDS: SecondsByKind,
    SHAPE: Shape,
    COUNT: Count,
    PARALLELISM: Parallelism,
    PARTITIONS: Partitions,
    SCALING: KeySharesForm,
    PARTITIONING: Partitioning,
    KEY_SHARES: KeySharesForm,
}
"""Kind of detail -> the form of a value that is not empty."""
IN_ROWS: dict[Detail, Any] = {
    TEXT: Title,
    OWNER: Name | None,
    COUNT: Count | None,
    PARALLELISM: Parallelism | None,
    PARTITIONS: Partitions | None,
    SCALING: ScalingForm | None,
    PARTITIONING: Literal[Partitioning, ""],
}
"""Kind of detail -> the form of a value in a row, where that may be empty."""


def _form_of(field: RowField) -> tuple[Any, Any]:
    """Return the type and the default of a field of an operator or stream, for pydantic."""
    kind, about = field.kind, field.about
    if isinstance(kind, Detail):
        form = IN_ROWS.get(kind, STORED[kind])
        if get_origin(form) is list:
            return form, Field(**NO_ITEMS, description=about)
        if get_origin(form) is dict:
            return form, Field(**EMPTY, description=about)
        return form, Field("" if kind in (TEXT, PARTITIONING) else None, description=about)
    default = field.absent if field.required else field.default
    if kind.whole:
        form = Annotated[int, Field(ge=int(kind.least), le=int(kind.most))]
    else:
        form = Annotated[Number, Field(ge=kind.least)] if kind.least > 0.0 else Number
        form = Annotated[form, Field(le=kind.most)] if kind.most < inf else form
        form = form | None if kind.may_be_unknown else form
    if field.required and default is None:
        return form, Field(description=about)
    return form, Field(default, description=about)


def _row_form(cls: type[Operator | Stream], doc: str, fields: Sequence[RowField]) -> type[Form]:
    """Return the form of an operator or stream; fields that are not described are names."""
    names: dict[str, Any] = {each.name: (Name, ...) for each in dataclass_fields(cls)}
    described = {field.name: _form_of(field) for field in fields}
    return create_model(f"{cls.__name__}Form", __base__=Form, __doc__=doc, **names | described)


if TYPE_CHECKING:  # type checkers cannot know models that are made of a table
    OperatorForm: TypeAlias = Any
    StreamForm: TypeAlias = Any
    Operators: TypeAlias = RowColumns
    Streams: TypeAlias = RowColumns
else:
    OperatorForm = _row_form(Operator, "A step of the job.", OPERATOR_FIELDS)
    StreamForm = _row_form(Stream, "A directed edge between two operators.", STREAM_FIELDS)
    Operators = Annotated[
        list[OperatorForm], Field(min_length=1), WrapValidator(columns_or_faults(OperatorForm))
    ]
    Streams = Annotated[list[StreamForm], WrapValidator(columns_or_faults(StreamForm))]


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
    source_rates: dict[Name, Number] | None = Field(
        None, description="tuples/s by source, instead of source_rate and source_shares"
    )
    operators: Operators
    streams: Streams = Field(
        default_factory=lambda: RowColumns(StreamForm, ()), json_schema_extra={"default": []}
    )
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


class GraphFileForm(Form):
    """A graph that stays in its own file, as a placement of more than 100,000 operators has it."""

    path: Name = Field(description="path of a graph file, relative to the placement's")
    sha256: str = Field(description="hash of the graph that was placed")


def _graph_or_file(value: Any, _: Any) -> GraphForm | GraphFileForm:
    """Check a graph by the form that it has, so that messages name the faults of one form only."""
    is_file = isinstance(value, dict) and "path" in value
    return (GraphFileForm if is_file else GraphForm).model_validate(value)


def _hash_of_graph(value: str | None, info: ValidationInfo) -> str | None:
    """Return the hash of a placed graph, which only a graph that is embedded has beside it."""
    graph = info.data.get("graph")
    if isinstance(graph, GraphFileForm):
        return graph.sha256
    if value is None:
        raise PydanticCustomError("missing", "Field required")
    return value


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


INHERITED = "seconds; null or missing: that of a less specific override, else the network's"


class OverrideForm(Form):
    """Links that differ from the network; nic links have only one of from and to.

    Devices or, with from_group and to_group, all devices of a group; devices win over groups.
    """

    source: Name | None = Field(None, alias="from")
    target: Name | None = Field(None, alias="to")
    source_group: Name | None = Field(None, alias="from_group")
    target_group: Name | None = Field(None, alias="to_group")
    bandwidth_mbps: Positive | None = Field(
        None,
        description="Mbit/s; null: no limit; missing: that of a less specific override, else the "
        "network's",
    )
    latency_s: Number | None = Field(None, description=INHERITED)
    overhead_s: Number | None = Field(None, description=INHERITED)
    gap_s: Number | None = Field(None, description=INHERITED)


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

    graph: Annotated[GraphForm | GraphFileForm, WrapValidator(_graph_or_file)]
    graph_sha256: Annotated[str | None, AfterValidator(_hash_of_graph)] = Field(
        None, validate_default=True, description="hash of a graph that is embedded"
    )
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
    fewer_devices: int | None = Field(
        None, ge=1, description="devices that carry everything too, as `--prefer fewest` uses them"
    )
    confidence: FiniteObject | None = Field(
        None, description="as `place --confidence --json` prints it"
    )
    latency: FiniteObject | None = Field(
        None, description="as `place --max-latency --json` prints it"
    )
    inputs: dict[Literal["graph", "cluster", "constraints"], Title] | None = Field(
        None, description="names of the files that the problem was read from"
    )
    jobs: list[FiniteObject] | None = Field(
        None, description="of several jobs as one graph: as `place --job-file --json` prints them"
    )
    problem: ProblemForm
