"""A watched job: its schedule of rates, its controller, and what it writes."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from scripting import ScriptError, say

KEYS = 512
SCALE = 1 / 15  # of all durations of the controller
MIPS = 1000.0  # any unit will do
CORES = 2
CLUSTER = ("tm0", "tm1", "tm2")


def write_cluster(folder: Path) -> None:
    """Write the cluster, `cluster.json`."""
    devices = [{"name": name, "mips": MIPS, "cores": CORES} for name in CLUSTER]
    cluster = {"format": "streamplace-cluster", "version": 1, "devices": devices}
    (folder / "cluster.json").write_text(json.dumps(cluster))


def write_problem(folder: Path, parse_us: float, count_us: float) -> None:
    """Write the cluster and the graph of the job: `cluster.json` and `graph.json`."""
    write_cluster(folder)
    costs = {"Source: numbers": 10, "parse": parse_us, "count": count_us, "journal: Writer": 50}
    ends = {"Source: numbers": 1, "journal: Writer": 1}
    operators = [
        {
            "name": name,
            "instructions": microseconds * MIPS,
            "payload_bytes": 50,
            "parallelism": 1,
            "max_parallelism": ends.get(name, 4),
        }
        for name, microseconds in costs.items()
    ]
    names = list(costs)
    kinds = ("rebalance", "hash", "rebalance")
    streams = [
        {"source": a, "target": b, "partitioning": kind}
        for a, b, kind in zip(names[:-1], names[1:], kinds, strict=True)
    ]
    graph = {"format": "streamplace-graph", "version": 1, "operators": operators}
    (folder / "graph.json").write_text(json.dumps({**graph, "streams": streams}))


class Schedule:
    """The rates of the source over time, in a file that it reads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
        self._rates: list[tuple[float, float]] = []

    @staticmethod
    def now() -> float:
        """Return the time in seconds since 1970."""
        return time.time()

    def set(self, rate: float, at_s: float | None = None) -> float:
        """Set the rate from a moment on, by default now, in tuples/s; return the time."""
        at = round((self.now() if at_s is None else at_s) * 1e3)
        self._rates.append((at, rate))
        with self.path.open("a") as file:
            file.write(f"{at} {rate:g}\n")
        return at / 1e3

    def due(self) -> int:
        """Return how many numbers are due; the last rate must be 0."""
        ends = [at for at, _ in self._rates[1:]]
        parts = zip(self._rates[:-1], ends, strict=True)
        return int(sum((end - at) / 1e3 * rate for (at, rate), end in parts))


class Output:
    """The lines that the job writes: number, count, and time in ms."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for file in folder.iterdir():
            file.unlink()

    def lines(self) -> list[tuple[int, int, int]]:
        """Return all complete lines."""
        found = []
        for file in self.folder.glob("*.txt"):
            for line in file.read_text().splitlines():
                words = line.split()
                if len(words) == 3:  # the last line may be incomplete
                    found.append((int(words[0]), int(words[1]), int(words[2])))
        return found

    def longest_gap_s(self, since: float) -> float:
        """Return the longest time without output since a moment."""
        times = sorted([since, *(ms / 1e3 for _, _, ms in self.lines() if ms / 1e3 >= since)])
        return max((b - a for a, b in pairwise(times)), default=0.0)

    def is_complete(self, due: int) -> bool:
        """Return whether the numbers 0 to due - 1, or nearly so, are written."""
        return len({number for number, _, _ in self.lines()}) >= due - 1

    def check(self) -> None:
        """Check that the count of every number is the true one, and that none is missing.

        Lines may repeat, since Flink went back to a checkpoint.

        Raises
        ------
        ScriptError
            If not.
        """
        lines = self.lines()
        if wrong := [line for line in lines if line[1] != line[0] // KEYS + 1]:
            raise ScriptError(f"{len(wrong)} counts are wrong, such as {wrong[0]}")
        numbers = {number for number, _, _ in lines}
        if missing := set(range(max(numbers) + 1)) - numbers:
            raise ScriptError(f"{len(missing)} numbers are missing, such as {min(missing)}")


def restarting(jar: Path, arguments: Sequence[str]) -> list[str]:
    """Return the options with which the controller starts a jar again."""
    return ["--jar", str(jar), *(word for text in arguments for word in ("--arg", text))]


class Controller:
    """`streamplace watch flink` on a job, within a ``with`` statement.

    Parameters
    ----------
    how
        Further options, such as those of restarts.
    with_graph
        Whether it gets the graph of `write_problem`; otherwise it measures the job first.
    scale
        Factor on all its durations.
    """

    def __init__(
        self,
        url: str,
        job: str,
        folder: Path,
        how: Sequence[str],
        *,
        with_graph: bool = True,
        scale: float = SCALE,
    ) -> None:
        problem = ["--cluster", str(folder.parent / "cluster.json")]
        if with_graph:
            problem += ["--graph", str(folder.parent / "graph.json")]
        acts = ["--mode", "apply", *how, "--journal", str(folder / "journal")]
        acts += ["--scale", f"{scale:.6f}", "--page", str(folder / "page.html"), "--json"]
        command = [sys.executable, "-m", "streamplace.cli.main", "watch", "flink", url]
        self._command = [*command, "--job", job, *problem, *acts]
        self.log = folder / "watch.log"
        self._log = self.log.open("w")
        self._decisions: list[dict[str, Any]] = []
        self._read_so_far = 0

    def __enter__(self) -> "Controller":
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=self._log, text=True
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._process.terminate()  # a shell may have let SIGINT be ignored
        self._process.wait()
        self._reader.join()
        self._log.close()

    def kill(self) -> None:
        """End the controller at once, as a machine that fails does."""
        self._process.kill()

    def check(self) -> None:
        """Raise `ScriptError` if the controller has ended."""
        if self._process.poll() is not None:
            raise ScriptError(f"the controller ended; see {self._log.name}")

    def until(self, *words: str, within_s: float) -> dict[str, Any]:
        """Wait for one of some decisions (such as ``act``) or states (such as ``steady``) to come.

        Raises
        ------
        ScriptError
            If it does not come in time, or the controller ends.
        """
        end = time.monotonic() + within_s
        while time.monotonic() < end:
            while self._read_so_far < len(self._decisions):
                self._read_so_far += 1
                decision = self._decisions[self._read_so_far - 1]
                if decision["decision"] in words or decision["state"] in words:
                    return decision
            self.check()
            time.sleep(0.2)
        last = self._decisions[-1]["reason"] if self._decisions else "nothing"
        raise ScriptError(f"no {' or '.join(words)} within {within_s:g} s; last: {last}")

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            decision = json.loads(line)
            say(f"  {decision['state']}: {decision['reason']}")
            self._decisions.append(decision)
