"""Other libraries, each in a process of its own environment."""

import json
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from benchmarks.schedulers.instances import Instance
from streamplace.problem.network import NetworkKind


@dataclass(frozen=True)
class Made:
    """A schedule of another library.

    Attributes
    ----------
    makespan
        By the library's own simulator, in seconds.
    devices, start
        (V,) device and start of each task.
    seconds
        CPU time that the library needed.
    """

    makespan: float
    devices: list[int]
    start: list[float]
    seconds: float


class FailedError(Exception):
    """An error of the other library, or ``time``."""


@dataclass
class Library:
    """A library that answers requests; see `serving`.

    Parameters
    ----------
    script
        Name of the script in this folder.
    kind
        Kind of network of ours that is most like the library's.
    python
        Interpreter of an environment that has the library.
    path
        Folder that contains the library, if it is not installed there.
    settings
        Parts of every request.
    """

    name: str
    script: str
    python: str
    path: str = ""
    kind: NetworkKind = "free"
    settings: dict[str, Any] = field(default_factory=dict)

    def __enter__(self) -> Self:
        """Start the process.

        Raises
        ------
        SystemExit
            If it cannot be started, or does not answer.
        """
        script = Path(__file__).with_name(f"{self.script}.py")
        own = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        own |= {"PYTHONHASHSEED": "0", "PYTHONPATH": self.path}  # sets are then in a fixed order
        try:
            self._process = subprocess.Popen(
                [self.python, str(script)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=own,
            )
        except OSError as error:
            raise SystemExit(f"{self.python}: {error.strerror or error}") from None
        self.names: list[str] = self.ask("names")["value"]
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._process.communicate()

    def ask(self, part: str, **request: Any) -> dict[str, Any]:
        """Return the answer to a request.

        Raises
        ------
        FailedError
            If the library raised an error, or its time was over.
        SystemExit
            If the process has ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps({"part": part, **self.settings, **request})
        with suppress(BrokenPipeError):  # the process has ended; its exit code is asked for below
            print(line, file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.python} {self.script}.py ended; see its message above")
        answer: dict[str, Any] = json.loads(line)
        if "failed" in answer:
            raise FailedError(answer["failed"])
        return answer

    def graphs(self, rounds: int, seed: int) -> list[Instance]:
        """Return instances with the library's own graphs."""
        rows = self.ask("graphs", rounds=rounds, seed=seed)["value"]
        return [Instance.of(row) for row in rows]

    def schedule(
        self, name: str, instance: Instance, limit: float = 0.0, measure: float = 0.0
    ) -> Made:
        """Return the schedule by one of the library's schedulers, within CPU seconds if not 0.

        Raises
        ------
        FailedError
            If there is none, or tasks are missing in it.
        """
        request = {"name": name, "limit": limit, "measure": measure}
        answer = self.ask("schedule", instance=instance.to_dict(), **request)
        if len(answer["value"]["devices"]) != len(instance.costs):
            raise FailedError("tasks are missing")
        return Made(**answer["value"], seconds=answer["seconds"])

    def replay(self, instance: Instance, devices: Sequence[int], listed: Sequence[int]) -> float:
        """Return the makespan of a placement by the library's simulator.

        Parameters
        ----------
        listed
            (V,) tasks; a device starts its own in this order.
        """
        request = {"devices": list(devices), "listed": list(listed)}
        return float(self.ask("replay", instance=instance.to_dict(), **request)["value"])
