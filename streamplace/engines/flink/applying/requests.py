"""Requests of a restart, as data: what is sent, in order, and what `--dry-run` shows."""

import hashlib
import json
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamplace.engines.flink.client import job_path
from streamplace.engines.flink.documents import MAPPING

JAR, SAVEPOINT, TRIGGER, VERTEX = "JAR_ID", "SAVEPOINT", "TRIGGER", "VERTEX"
"""Stand for what is known only when the requests before have been answered."""
CHECK = "streamplace.check"
CHAINING = ("pipeline.operator-chaining.enabled", "pipeline.operator-chaining")
"""Its name, and that in Flink 1.17, which ignores the other one."""


@dataclass(frozen=True)
class Request:
    """A request; `body` is a JSON value, or None."""

    method: str
    path: str
    body: Any
    purpose: str

    def __str__(self) -> str:
        body = "" if self.body is None else f" {json.dumps(self.body, ensure_ascii=False)}"
        return f"{self.method} {self.path}{body}  # {self.purpose}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a JSON object."""
        return {
            "method": self.method,
            "path": self.path,
            "body": self.body,
            "purpose": self.purpose,
        }


@dataclass(frozen=True)
class Program:
    """How the jar is started; None and () leave it to the jar."""

    entry_class: str | None = None
    arguments: Sequence[str] = ()

    def body(self, mapping: str | None, **config: str) -> dict[str, Any]:
        """Return the body that runs or plans the program with a mapping."""
        all_config = {**({} if mapping is None else {MAPPING: mapping}), **config}
        found: dict[str, Any] = {}
        if self.entry_class is not None:
            found["entryClass"] = self.entry_class
        if self.arguments:
            found["programArgsList"] = list(self.arguments)
        if all_config:
            found["flinkConfiguration"] = all_config
        return found


def check(jar: str, program: Program, mapping: str) -> Request:
    """Return the request that lets the Java helper check a mapping, without starting a job."""
    body = program.body(mapping, **{CHECK: "true"})
    return Request(
        "POST", f"{_jar(jar)}/plan", body, "does the jar take the mapping; are there uids"
    )


def plan(jar: str, program: Program, mapping: str, chains: bool = False) -> Request:
    """Return the request for the plan of the job to be started.

    Parameters
    ----------
    chains
        Whether operators are chained as the program says; without chains, the plan has the id of
        every operator.
    """
    body = program.body(mapping, **({} if chains else dict.fromkeys(CHAINING, "false")))
    return Request(
        "POST", f"{_jar(jar)}/plan", body, "the ids and the parallelism of its operators"
    )


def stop(job: str, directory: str, trigger: str) -> Request:
    """Return the request that stops a job with a savepoint; `trigger` is an id that we choose."""
    body = {
        "targetDirectory": directory,
        "drain": False,
        "formatType": "NATIVE",
        "triggerId": trigger,
    }
    return Request("POST", f"{job_path(job)}/stop", body, "stop the job with a savepoint")


def savepoint_status(job: str, trigger: str) -> Request:
    """Return the request for the progress of a savepoint."""
    path = f"{job_path(job)}/savepoints/{urllib.parse.quote(trigger, safe='')}"
    return Request("GET", path, None, "has the savepoint ended")


def run(
    jar: str,
    program: Program,
    mapping: str | None,
    settings: Mapping[str, str],
    savepoint: str,
    job: str,
) -> Request:
    """Return the request that starts a job, under an id that we choose.

    Parameters
    ----------
    settings
        Options of Flink, which the program may overwrite.
    """
    body = {**program.body(mapping, **settings), "savepointPath": savepoint, "jobId": job}
    body["allowNonRestoredState"] = False
    return Request("POST", f"{_jar(jar)}/run", body, "start the job from the savepoint")


def cancel(job: str) -> Request:
    """Return the request that cancels a job."""
    return Request("PATCH", job_path(job), None, "cancel the job")


def planned(
    job: str,
    jar: str | None,
    program: Program,
    mapping: str,
    former: str | None,
    settings: Mapping[str, str],
    directory: str,
    savepoint: str | None,
) -> list[Request]:
    """Return all requests of a restart that change something or run the jar.

    Parameters
    ----------
    jar
        Id of a jar on the server; None: a file, which is uploaded first.
    former
        The mapping for a rollback.
    settings
        Options of Flink that the job keeps.
    savepoint
        The savepoint to start from; None: the job is stopped with one.
    """
    id_, saved = jar or JAR, savepoint or SAVEPOINT
    new = successor(job, saved, 0) if savepoint else "NEW_JOB"
    found = []
    if jar is None:
        found.append(Request("POST", "/jars/upload", None, f"upload the jar, which gets {JAR}"))
    found += [check(id_, program, mapping), plan(id_, program, mapping)]
    if savepoint is None:
        found += [stop(job, directory, TRIGGER), savepoint_status(job, TRIGGER)]
    found.append(run(id_, program, mapping, settings, saved, new))
    found.append(Request("GET", job_path(new), None, "do all vertices run; parallelism"))
    where = f"{job_path(new)}/vertices/{VERTEX}"
    found.append(Request("GET", where, None, "which TaskManager runs each instance"))
    back = run(id_, program, former, settings, saved, "FORMER_JOB")
    found.append(
        Request(back.method, back.path, back.body, "only to roll back: the former mapping")
    )
    if jar is None:
        found.append(delete(JAR))
    return found


def delete(jar: str) -> Request:
    """Return the request that deletes an uploaded jar; running jobs have their own copy."""
    return Request("DELETE", _jar(jar), None, "delete the uploaded jar")


def successor(job: str, savepoint: str, attempt: int, rollback: bool = False) -> str:
    """Return the id of the job that continues another one from a savepoint.

    It follows from both, so that a start whose answer was lost is recognised, and a savepoint is
    never started twice.
    """
    text = json.dumps([job, savepoint, attempt, rollback])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _jar(jar: str) -> str:
    return f"/jars/{urllib.parse.quote(jar, safe='')}"
