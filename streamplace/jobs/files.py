"""Job files: several jobs on one cluster, with their graphs or the paths of these; their format."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from pydantic import Field

from streamplace.errors import FormatError, ProblemError, StreamplaceError, located, within
from streamplace.files.datasets import PREFIX, read_graph
from streamplace.files.graphs import constraints_to, graph_from, graph_to
from streamplace.files.json_text import json_pieces
from streamplace.files.reading import STDIO, check, folder_of, name_of, read_json
from streamplace.files.schema import VERSION, Form, Name, Number, Positive, Version
from streamplace.files.writing import write_pieces
from streamplace.jobs.jobs import MAX_JOBS, MAX_NAME, Job, Jobs
from streamplace.problem.graph import StreamGraph

EITHER: dict[str, Any] = {"anyOf": [{"type": "string"}, {"type": "object"}]}
Priority = Annotated[float, Field(allow_inf_nan=False)]
RESULT, TOGETHER, ENDING = "result.json", "together.json", ".placement.json"
"""Names of the files of a result: its numbers, all jobs in one placement, and that of each job."""
GRAPH = ".graph.json"
"""Ending of the graph of a job, which states the numbers of instances that `size` chose."""


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


def read_jobs(path: str | Path) -> Jobs:
    """Read a job file and the graphs that it names; ``-`` is stdin.

    Paths of graphs are relative to the folder of the file, or to the current folder for stdin.

    Raises
    ------
    FormatError
        If the file or a graph cannot be read, or is not valid. The message names the file, the job
        and the fault.
    """
    return jobs_from(read_json(path), name_of(path), folder_of(path))


def jobs_from(value: Any, where: str, folder: Path) -> Jobs:
    """Read jobs from a JSON value.

    Parameters
    ----------
    folder
        The folder to which paths of graphs are relative.

    Raises
    ------
    FormatError
        As `read_jobs` does; the message begins with `where`.
    """
    with located(where, FormatError):
        return Jobs(_job_from(one, j, where, folder) for j, one in enumerate(_forms(value, where)))


def graph_files(value: Any, where: str, folder: Path) -> Iterator[Path]:
    """Yield the paths of the graph files that a JSON value of jobs names."""
    for one in _forms(value, where):
        if isinstance(one.graph, str) and not one.graph.startswith(PREFIX):
            yield folder / one.graph


def write_jobs(path: str | Path, jobs: Jobs) -> None:
    """Write a job file with the graphs in it; constraints of a job replace those of its graph.

    Raises
    ------
    FormatError
        If the file cannot be written.
    """
    write_pieces(path, json_pieces(jobs_to(jobs)))


def jobs_to(jobs: Jobs) -> dict[str, Any]:
    """Return jobs as a JSON value, without fields at their default."""
    rows = [_job_to(job) for job in jobs]
    return {"format": "streamplace-jobs", "version": 1, "jobs": rows}


def outcomes_in(value: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """Return what each of several jobs gets, from the placement file of all; [] if it has none.

    Raises
    ------
    FormatError
        If an entry of ``jobs`` is not what `place --job-file --json` prints.
    """
    jobs: list[dict[str, Any]] = value.get("jobs") or []
    check(JobOutcomesForm, {"jobs": jobs}, where)
    return jobs


def _forms(value: Any, where: str) -> list[JobForm]:
    return check(JobsForm, value, where).jobs


def _job_from(form: JobForm, j: int, where: str, folder: Path) -> Job:
    place = f"jobs[{j}] ({form.name!r})"
    with within(place):
        graph = _graph_from(form, f"{where}: {place}: graph", folder)
        return Job(
            form.name,
            graph,
            form.source_rate,
            form.priority,
            form.weight,
            form.min_throughput,
        )


def _graph_from(form: JobForm, where: str, folder: Path) -> StreamGraph:
    """Return the graph that a job holds or names; without a name, it has that of the job."""
    value = form.graph
    if isinstance(value, dict):
        return graph_from(value, where, form.name)
    if not isinstance(value, str) or value in ("", STDIO):
        raise ProblemError(f"graph: must be the path of a file, or a graph (got {value!r:.40})")
    try:
        return read_graph(value if value.startswith(PREFIX) else folder / value)
    except StreamplaceError as error:  # names the graph's file, but not the job file
        raise FormatError(f"{where}: {error}") from None


def _job_to(job: Job) -> dict[str, Any]:
    graph = graph_to(job.graph)
    if job.constraints is not None:
        graph.pop("constraints", None)
        if job.constraints:
            graph["constraints"] = constraints_to(job.constraints)
    row: dict[str, Any] = {"name": job.name, "graph": graph, "source_rate": job.offered}
    defaults = {"priority": 0, "weight": 1.0, "min_throughput": 0.0}
    own = {name: getattr(job, name) for name in defaults}
    return row | {name: value for name, value in own.items() if value != defaults[name]}


def refuse_result(value: dict[str, Any], path: Path, where: str) -> NoReturn:
    """Refuse the JSON value of a result of several jobs where a placement is read.

    Raises
    ------
    FormatError
        Always; the message names the placement files beside it, if there are any.
    """
    command = f"{'place' if 'placer' in value else 'size'} --job-file"
    is_what = f"is the result of {command}, without the graphs"
    jobs = value["jobs"] if isinstance(value["jobs"], list) else []
    names = [job["name"] for job in jobs if isinstance(job, dict) and "name" in job]
    whole, single = path.parent / TOGETHER, [path.parent / f"{name}{ENDING}" for name in names]
    found = [f"{whole} has all jobs"] if whole.is_file() else []
    found += [f"{file} has one job" for file in single[:1] if file.is_file()]
    if path.name == RESULT and found:
        raise FormatError(f"{where}: {is_what}; read a placement instead: {', '.join(found)}")
    raise FormatError(f"{where}: {is_what}; {command} -o FOLDER writes placements")
