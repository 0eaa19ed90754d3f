"""The formats of job files, and of what jobs get, as pydantic models."""

from typing import Annotated, Any, Literal

from pydantic import Field

from streamplace.files.schema import VERSION, Form, Name, Number, Positive, Version
from streamplace.problem.jobs import MAX_JOBS, MAX_NAME

EITHER: dict[str, Any] = {"anyOf": [{"type": "string"}, {"type": "object"}]}
Priority = Annotated[float, Field(allow_inf_nan=False)]


class JobForm(Form):
    """A job that shares a cluster with others."""

    name: Annotated[Name, Field(max_length=MAX_NAME)] = Field(
        description="also a part of file names"
    )
    graph: Any = Field(
        description="path of a graph file, relative to the job file, or a graph object",
        json_schema_extra=EITHER,
    )
    source_rate: Positive | None = Field(None, description="tuples/s; null: the graph's")
    priority: Priority = Field(0, description="higher is served first")
    weight: Positive = Field(
        1.0, description="within a priority, relative throughputs are proportional to weights"
    )
    min_throughput: Number = Field(0.0, description="tuples/s reserved before priorities count")


class JobsForm(Form):
    """Several jobs on one cluster."""

    format: Literal["streamplace-jobs"] = "streamplace-jobs"
    version: Version = VERSION
    jobs: list[JobForm] = Field(min_length=1, max_length=MAX_JOBS)


class LimitForm(Form):
    """The device, link, uplink or operator that limits a job."""

    kind: Name
    name: Name
    utilisation: Number


class JobOutcomeForm(Form):
    """What one of several jobs gets, as `place --job-file --json` prints it."""

    name: Name
    priority: Priority
    throughput: Number
    relative_throughput: Number
    lost: Number
    lost_to: dict[Name, Number]
    alone: Number
    source_rate: Number
    weight: Number
    min_throughput: Number
    limited_by: LimitForm | None


class JobOutcomesForm(Form):
    """What each of several jobs gets, in the placement file of all of them."""

    jobs: list[JobOutcomeForm] = Field([], max_length=MAX_JOBS)
