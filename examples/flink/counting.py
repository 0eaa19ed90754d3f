"""The counting job: its start, where it runs, and whether its state is complete."""

import json
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from local_flink import TIMEOUT_S, FlinkError, LocalFlink
from scripting import call

from streamplace.integrations.flink.applying.documents import ENDED
from streamplace.integrations.flink.helper import helper_source
from streamplace.integrations.flink.plan import running
from streamplace.integrations.profiling.rest import Server
from streamplace.workflows.apply import upload

HERE = Path(__file__).resolve().parent
ENOUGH = 20  # counts
INSTANCE = re.compile(r"\[\d+\]$")
NOT_CHAINED = {"pipeline.operator-chaining.enabled": "false"}


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


class Counting:
    """A counting job on a cluster.

    Parameters
    ----------
    out
        The folder that the job writes to; emptied.
    rate
        Tuples/s of the source.
    instances
        Instances of "count" before the first placement is applied.
    """

    def __init__(
        self, flink: LocalFlink, jar: Path, out: Path, rate: int = 100, instances: int = 3
    ) -> None:
        self.flink, self.jar, self.out = flink, jar, out
        self.arguments = [str(rate), str(out), str(instances)]
        out.mkdir(parents=True, exist_ok=True)
        for file in out.iterdir():
            file.unlink()

    def start(self, config: Mapping[str, str] = MappingProxyType({})) -> str:
        """Start the job without a mapping; return its id when it runs."""
        job = self.submit(config)
        wait(lambda: self.running() == [job], "the job did not start")
        wait(lambda: sum(map(len, self.counts().values())) > ENOUGH, "nothing arrives")
        wait(lambda: self.checkpoints(job) > 1, "no checkpoints")
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

    def counts(self) -> dict[str, list[int]]:
        """Return key -> all counts that were written, sorted."""
        found: dict[str, list[int]] = defaultdict(list)
        for file in self.out.glob("*.txt"):
            for line in file.read_text().splitlines():
                key, _, count = line.partition(" ")
                if count:
                    found[key].append(int(count))
        return {key: sorted(counts) for key, counts in found.items()}

    def check_state(self, replays: bool = False) -> None:
        """Check that the counts of each key are 1, 2, 3, … and that they still grow.

        Parameters
        ----------
        replays
            Whether counts may repeat, since Flink went back to a checkpoint; 1 never does, except
            in the first seconds.
        """
        before = sum(map(len, self.counts().values()))
        wait(lambda: sum(map(len, self.counts().values())) > before + ENOUGH, "nothing arrives")
        for key, counts in self.counts().items():
            distinct = sorted(set(counts))
            missing = len(distinct) != distinct[-1]
            if missing or counts.count(1) > 1 or (not replays and len(counts) > len(distinct)):
                raise FlinkError(f"key {key}: {len(counts)} counts up to {distinct[-1]}")

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
        where = ["--url", self.flink.url, "--job", job, "--jar", str(self.jar)]
        program = [sys.executable, "-m", "streamplace.cli.main"]
        return [*program, "apply", "flink", str(placement), *where, *arguments, *more]


def labels_in(config: str) -> dict[str, dict[str, int]]:
    """Return device -> label -> amount from the text of ``export --to flink-config``."""
    found: dict[str, dict[str, int]] = {}
    device = ""
    for line in config.splitlines():
        if line.startswith("--- # "):
            device = json.loads(line.removeprefix("--- # "))
        elif ".amount: " in line:
            key, _, amount = line.partition(".amount: ")
            label = key.removeprefix("external-resource.")
            found.setdefault(device, {})[label] = int(amount)
    return found


def devices_of(placement: Path) -> dict[str, Counter[str]]:
    """Return operator -> device -> number of its instances in a placement file."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for name, device in json.loads(placement.read_text())["assignment"].items():
        found[INSTANCE.sub("", name)][device] += 1
    return dict(found)


def wait(ready: Any, failure: str, within_s: float = TIMEOUT_S) -> None:
    """Wait until a condition holds."""
    until = time.monotonic() + within_s
    while not ready():
        if time.monotonic() > until:
            raise FlinkError(f"{failure} within {within_s:g} s")
        time.sleep(0.3)


def streamplace(*arguments: str) -> str:
    """Run a command of streamplace and return its stdout."""
    return call([sys.executable, "-m", "streamplace.cli.main", *arguments])
