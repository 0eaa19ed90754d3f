"""A local Flink cluster on loopback: a JobManager and TaskManagers."""

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from cluster_config import BUSY_MACHINE, MODULE_OPTIONS, version_in, write_config
from scripting import ScriptError

JOB_MANAGER = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
TASK_MANAGER = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"
CLIENT = "org.apache.flink.client.cli.CliFrontend"
TIMEOUT_S = 300.0  # for a start of the cluster or of a job, and for its end
ANSWER_S = 60.0  # for an answer of a busy machine
STOP_TIMEOUT_S = 20.0  # then processes are killed


@dataclass(frozen=True)
class TaskManager:
    """A TaskManager.

    Parameters
    ----------
    labels
        Name of an external resource -> its amount.
    speed
        Its speed relative to the machine's; `Work` reads it.
    """

    name: str
    labels: Mapping[str, int] = field(default_factory=dict)
    speed: float = 1.0
    slots: int = 1

    @property
    def options(self) -> list[str]:
        """Options of its process."""
        found = {
            "taskmanager.resource-id": self.name,
            "taskmanager.numberOfTaskSlots": str(self.slots),
        }
        if self.labels:
            found["external-resources"] = ";".join(self.labels)
        for label, amount in self.labels.items():
            found[f"external-resource.{label}.amount"] = str(amount)
        return [word for key, value in found.items() for word in ("-D", f"{key}={value}")]


def equal(count: int) -> tuple[TaskManager, ...]:
    """Return equal TaskManagers without labels."""
    return tuple(TaskManager(f"tm{i}") for i in range(count))


class LocalFlink:
    """A Flink cluster that runs inside a ``with`` statement.

    Parameters
    ----------
    home
        Folder that contains Flink's ``lib``.
    folder
        Folder for configuration, logs and temporary files.
    address
        Address that the JobManager listens on.
    restarts
        Whether Flink restarts failed jobs.
    config
        More lines of the configuration.
    """

    def __init__(
        self,
        home: Path,
        folder: Path,
        task_managers: Sequence[TaskManager],
        address: str = "127.0.0.1",
        *,
        restarts: bool = False,
        config: str = "",
    ) -> None:
        self.home = home
        self.folder = folder
        self.task_managers = task_managers
        self.restarts = restarts
        self.config = config
        self.address = address
        self.rest, self.rpc = free_ports(2)
        self.url = f"http://{address}:{self.rest}"
        self.pids: dict[str, int] = {}
        self._processes: list[subprocess.Popen[bytes]] = []
        self._logs: list[IO[bytes]] = []
        self._without_proxies = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def __enter__(self) -> "LocalFlink":
        shutil.rmtree(self.folder / "tmp", ignore_errors=True)
        for name in ("conf", "log", "tmp"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        values = {
            "address": self.address,
            "rpc": self.rpc,
            "rest": self.rest,
            "folder": self.folder,
            "restart": "fixed-delay" if self.restarts else "none",
        }
        write_config(self.folder / "conf", version_in(self.home), self.config, values)
        try:
            self.pids["jobmanager"] = self._start("jobmanager", JOB_MANAGER, "256m")
            for i in range(len(self.task_managers)):
                self._start_task_manager(i)
            self._wait_for_slots()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()

    @property
    def client(self) -> list[str]:
        """The command of Flink's client, which reads the folder FLINK_CONF_DIR."""
        return [*self._java("client", "128m"), CLIENT]

    def get(self, path: str) -> Any:
        """Return the answer of the REST API at a path, a JSON value."""
        with self._without_proxies.open(self.url + path, timeout=ANSWER_S) as answer:
            return json.load(answer)

    def run(self, jar: Path, arguments: Sequence[str]) -> str:
        """Start a job and return its id when all its vertices run."""
        command = [*self.client, "run", "-d", str(jar), *arguments]
        environment = {**os.environ, "FLINK_CONF_DIR": str(self.folder / "conf")}
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        parts = done.stdout.split("JobID ")
        if done.returncode or len(parts) < 2:
            raise ScriptError(f"Flink rejected the job:\n{done.stdout}\n{done.stderr}")
        job = parts[-1].split()[0]
        self._wait(lambda: self._runs(job), f"job {job} did not start")
        return job

    def restart_task_manager(self, name: str) -> None:
        """Start a TaskManager whose process was killed."""
        for process in self._processes:
            if process.pid == self.pids[name]:
                process.wait()
                self._processes.remove(process)
        i = next(i for i, each in enumerate(self.task_managers) if each.name == name)
        self._start_task_manager(i)
        self._wait(
            lambda: self.get("/overview")["taskmanagers"] == len(self.task_managers),
            f"{name} did not register",
        )

    def cancel(self, job: str) -> None:
        """Cancel a job and wait until its slots are free."""
        request = urllib.request.Request(f"{self.url}/jobs/{job}", method="PATCH")
        with self._without_proxies.open(request, timeout=10):
            pass
        self._wait_for_slots()

    def on_cores(self, operators: Iterable[str]) -> tuple[float, float]:
        """Return the seconds that operators ran on cores and that they waited for one.

        Both are 0 if the system does not record them.
        """
        ran = waited = 0.0
        names = tuple(name[:15] for name in operators)  # Linux truncates names of threads
        for process in self._processes:
            for thread in Path(f"/proc/{process.pid}/task").glob("*/schedstat"):
                with suppress(OSError):
                    if not thread.with_name("comm").read_text().startswith(names):
                        continue
                    fields = thread.read_text().split()
                    ran, waited = ran + int(fields[0]) / 1e9, waited + int(fields[1]) / 1e9
        return ran, waited

    def _runs(self, job: str) -> bool:
        details = self.get(f"/jobs/{job}")
        if details["state"] in ("FAILED", "CANCELED", "FINISHED"):
            raise ScriptError(f"the job is {details['state']}; see {self.folder / 'log'}")
        return all(vertex["status"] == "RUNNING" for vertex in details["vertices"])

    def _wait_for_slots(self) -> None:
        def free() -> bool:
            wanted = sum(each.slots for each in self.task_managers)
            return bool(self.get("/overview")["slots-available"] == wanted)

        self._wait(free, "the TaskManagers did not register")

    def _wait(self, ready: Any, failure: str) -> None:
        until = time.monotonic() + TIMEOUT_S
        while time.monotonic() < until:
            for process in self._processes:
                if process.poll() is not None:
                    raise ScriptError(f"a Flink process ended; see {self.folder / 'log'}")
            with suppress(OSError):
                if ready():
                    return
            time.sleep(0.5)
        raise ScriptError(f"{failure} within {TIMEOUT_S:g} s; see {self.folder / 'log'}")

    def _java(self, name: str, heap: str) -> list[str]:
        return [
            "java",
            f"-Xmx{heap}",
            "-XX:+UseSerialGC",
            *MODULE_OPTIONS,
            *BUSY_MACHINE,
            f"-Dlog.file={self.folder / 'log' / name}.log",
            f"-Dlog4j.configurationFile={self.home / 'conf' / 'log4j.properties'}",
            "-cp",
            f"{self.home / 'lib'}/*",
        ]

    def _start_task_manager(self, i: int) -> None:
        made = self.task_managers[i]
        speed = [f"-Dstreamplace.speed={made.speed}"]
        self.pids[made.name] = self._start(
            made.name, TASK_MANAGER, "192m", made.options, java_options=speed
        )

    def _start(
        self,
        name: str,
        entry: str,
        heap: str,
        options: Sequence[str] = (),
        launcher: Sequence[str] = (),
        java_options: Sequence[str] = (),
    ) -> int:
        log = (self.folder / "log" / f"{name}.out").open("wb")
        self._logs.append(log)
        java = [*self._java(name, heap), *java_options, entry]
        java += ["--configDir", str(self.folder / "conf")]
        process = subprocess.Popen([*launcher, *java, *options], stdout=log, stderr=log)
        self._processes.append(process)
        return process.pid

    def _stop(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
        until = time.monotonic() + STOP_TIMEOUT_S
        for process in self._processes:
            try:
                process.wait(max(until - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for log in self._logs:
            log.close()
        self._processes, self._logs = [], []


def free_ports(count: int) -> list[int]:
    """Return free ports of loopback."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
