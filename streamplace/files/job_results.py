"""Files of results of several jobs, and what to read instead of the one without their graphs."""

from pathlib import Path
from typing import Any

from streamplace.errors import FormatError

RESULT, TOGETHER, ENDING = "result.json", "together.json", ".placement.json"
"""Names of the files of a result: its numbers, all jobs in one placement, and that of each job."""
GRAPH = ".graph.json"
"""Ending of the graph of a job, which states the numbers of instances that `size` chose."""


def refuse_job_results(value: Any, path: Path, where: str) -> None:
    """Refuse the JSON value of a result of several jobs where a placement is read.

    Raises
    ------
    FormatError
        If it is one; the message names the placement files beside it, if there are any.
    """
    if not isinstance(value, dict) or not {"jobs", "assignment"} <= value.keys():
        return
    if "problem" in value:  # a placement of all jobs, with what each of them gets
        return
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
