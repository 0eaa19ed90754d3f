"""A Ray cluster on this machine, with a node for each device."""

import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TIMEOUT_S = 90.0
STORE_BYTES = 100 * 2**20
CPUS = 100  # logical ones of a node, so that they limit nothing
JOIN = 'n=$1; shift; for i in $(seq $n); do echo $$ > "$1"; shift; done; exec "$@"'


class RayError(Exception):
    """The cluster or a program on it has failed."""


class LocalRay:
    """A head without actors, and nodes that offer a resource with the name of their device.

    Parameters
    ----------
    home
        Folder of a virtual environment with ``ray[default]``.
    folder
        Folder for logs. Ray keeps its own files in a short path, because of its sockets.
    groups
        Device -> the files of cgroups that its node joins before it starts.
    """

    def __init__(
        self,
        home: Path,
        folder: Path,
        devices: Sequence[str],
        groups: Mapping[str, Sequence[Path]],
    ) -> None:
        self.home, self.folder, self.devices = home, folder, devices
        self.port, self.dashboard = _free_port(), _free_port()
        self.url = f"http://127.0.0.1:{self.dashboard}"
        self._groups = groups
        self._running: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "LocalRay":
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            head = [f"--port={self.port}", f"--dashboard-port={self.dashboard}", "--head"]
            self._start("head", [*head, "--num-cpus=0"])
            self._wait(1)
            for number, device in enumerate(self.devices, start=1):
                offer = f"--resources={json.dumps({device: 1})}"
                self._start(device, [f"--address={self.address}", f"--num-cpus={CPUS}", offer])
                self._wait(1 + number)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for each in reversed(self._running):
            each.terminate()
        for each in self._running:
            try:
                each.wait(20.0)
            except subprocess.TimeoutExpired:
                each.kill()

    @property
    def address(self) -> str:
        """The address that nodes and drivers connect to."""
        return f"127.0.0.1:{self.port}"

    def device_of(self) -> dict[str, str]:
        """Return node -> device, for the nodes that run."""
        rows = self.get("/api/v0/nodes?detail=1&limit=1000")["data"]["result"]["result"]
        return {
            row["node_id"]: device
            for row in rows
            if row["state"] == "ALIVE"
            for device in self.devices
            if device in row["resources_total"]
        }

    def get(self, path: str) -> Any:
        """Return a document of the dashboard."""
        with urllib.request.urlopen(self.url + path, timeout=10.0) as answer:
            return json.load(answer)

    def wait_for(self, driver: subprocess.Popen[str]) -> None:
        """Wait for the line that a driver prints once all its actors run.

        Raises
        ------
        RayError
            If it ends before.
        """
        assert driver.stdout is not None
        if not driver.stdout.readline():
            raise RayError(f"the driver has ended: {driver.communicate()[1][-2000:]}")

    @contextmanager
    def driver(self, script: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Run a driver beside the block, and end it afterwards."""
        command = [str(self.home / "bin" / "python"), str(script), *arguments]
        with subprocess.Popen(
            command,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.terminate()

    def run(self, script: Path, *arguments: str) -> Any:
        """Run a driver and return the JSON value that it prints last.

        Raises
        ------
        RayError
            If it fails.
        """
        with self.driver(script, *arguments) as process:
            output, faults = process.communicate()
        if process.returncode:
            raise RayError(f"{script.name}: {faults[-2000:]}")
        return json.loads(output.splitlines()[-1])

    @property
    def _environment(self) -> dict[str, str]:
        return os.environ | {"RAY_ADDRESS": self.address}

    def _start(self, name: str, arguments: Sequence[str]) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            command = [str(self.home / "bin" / "ray"), "start", "--block", "--disable-usage-stats"]
            command += [f"--object-store-memory={STORE_BYTES}", *arguments]
            files = [str(each) for each in self._groups.get(name, ())]
            joining = ["sh", "-c", JOIN, "sh", f"{len(files)}", *files, *command]
            self._running.append(subprocess.Popen(joining, stdout=log, stderr=log))

    def _wait(self, nodes: int) -> None:
        """Wait until the dashboard knows that many nodes.

        Raises
        ------
        RayError
            If it takes too long, or a node ends.
        """
        until = time.monotonic() + TIMEOUT_S
        while time.monotonic() < until:
            if any(each.poll() is not None for each in self._running):
                raise RayError(f"a node of Ray has ended; see {self.folder}")
            try:
                found = self.get("/api/v0/nodes")["data"]["result"]["result"]
                if sum(row["state"] == "ALIVE" for row in found) >= nodes:
                    return
            except (OSError, ValueError, KeyError, TypeError):
                pass
            time.sleep(0.5)
        raise RayError(f"Ray has not started within {TIMEOUT_S:g} s; see {self.folder}")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
