"""A job on a local Flink cluster: its start, what runs where, its end, and placements for it."""

import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from local_flink import TIMEOUT_S, LocalFlink
from scripting import ScriptError, call

from streamplace.engines.flink.applying.apply import upload
from streamplace.engines.flink.documents import ENDED
from streamplace.engines.flink.plan import running
from streamplace.engines.flink.slot_groups import helper_source
from streamplace.formats.profiling.rest import Server

HERE = Path(__file__).resolve().parent


def build(folder: Path, home: Path, main: str, sources: Sequence[Path], name: str = "") -> Path:
    """Compile a job together with the Java helper; return its jar."""
    name = name or main
    classes, jar = folder / f"{name}.classes", folder / f"{name}.jar"
    helper = folder / "StreamplaceMapping.java"
    helper.write_text(helper_source())
    java = ["javac", "-nowarn", "-d", str(classes), "-cp", f"{home / 'lib'}/*"]
    call([*java, str(helper), *map(str, sources)])
    call(["jar", "--create", f"--file={jar}", f"--main-class={main}", "-C", str(classes), "."])
    return jar


class Submitted:
    """A job that a jar starts on a cluster.

    Parameters
    ----------
    arguments
        Arguments of its main method.
    """

    def __init__(self, flink: LocalFlink, jar: Path, arguments: Sequence[str]) -> None:
        self.flink, self.jar, self.arguments = flink, jar, list(arguments)

    def start(self, config: Mapping[str, str] = MappingProxyType({})) -> str:
        """Start the job with a configuration; return its id when it runs."""
        job = self.submit(config)
        wait(lambda: self.running() == [job], "the job did not start")
        return job

    def checkpoints(self, job: str) -> int:
        """Return the number of checkpoints that a job has completed."""
        return int(self.flink.get(f"/jobs/{job}/checkpoints")["counts"]["completed"])

    def submit(self, config: Mapping[str, str]) -> str:
        """Start the job with a configuration; return its id."""
        server = Server(self.flink.url)
        uploaded = upload(server, self.jar, 60)
        body = {"programArgsList": self.arguments, "flinkConfiguration": dict(config)}
        return str(server.send("POST", f"/jars/{uploaded}/run", body, 60)["jobid"])

    def running(self) -> list[str]:
        """Return the ids of all jobs that have not ended; [] unless all their tasks run."""
        jobs = self.flink.get("/jobs/overview")["jobs"]
        alive = [job for job in jobs if job["state"] not in ENDED]
        ready = all(job["tasks"]["running"] == job["tasks"]["total"] > 0 for job in alive)
        return [job["jid"] for job in alive] if ready else []

    def where(self, job: str) -> dict[str, Counter[str]]:
        """Return operator -> TaskManager -> number of its instances there."""
        plan = running(self.flink.get(f"/jobs/{job}/plan")["plan"], self.flink.url)
        found = {}
        for vertex in plan.vertices:
            subtasks = self.flink.get(f"/jobs/{job}/vertices/{vertex.id}")["subtasks"]
            hosts = Counter(str(task["taskmanager-id"]) for task in subtasks)
            found.update(dict.fromkeys(vertex.operators, hosts))
        return found

    def cancel(self, jobs: Sequence[str] = ()) -> None:
        """Cancel jobs, or all jobs."""

        def left() -> list[str]:
            overview = self.flink.get("/jobs/overview")["jobs"]
            alive = [job["jid"] for job in overview if job["state"] not in ENDED]
            return [job for job in alive if not jobs or job in jobs]

        for job in left():
            Server(self.flink.url).send("PATCH", f"/jobs/{job}", None, 10)
        wait(lambda: not left(), "the jobs did not end")

    def apply_command(self, placement: Path, job: str, *more: str) -> list[str]:
        """Return the command that applies a placement."""
        arguments = [word for text in self.arguments for word in ("--arg", text)]
        usual = {"--url": self.flink.url, "--job": job, "--jar": str(self.jar)}
        program = [sys.executable, "-m", "streamplace.cli.main"]
        return [
            *program,
            "apply",
            "flink",
            str(placement),
            *unless_stated(usual, more),
            *arguments,
            *more,
        ]


def unless_stated(usual: Mapping[str, str], stated: Sequence[str]) -> list[str]:
    """Return the words of usual options that are not stated, since none may be given twice."""
    return [word for name in usual if name not in stated for word in (name, usual[name])]


def wait(ready: Any, failure: str, within_s: float = TIMEOUT_S) -> None:
    """Wait until a condition holds."""
    until = time.monotonic() + within_s
    while not ready():
        if time.monotonic() > until:
            raise ScriptError(f"{failure} within {within_s:g} s")
        time.sleep(0.3)
