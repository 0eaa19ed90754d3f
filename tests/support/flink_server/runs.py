"""Jobs of the scripted cluster, with counters that grow while they run."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isnan

from tests.support.flink_server.load import Load

BYTES = 20  # of a tuple


@dataclass
class Counts:
    """Counters of one subtask: tuples, and milliseconds in each state."""

    tuples: float = 0.0
    busy_ms: float = 0.0
    idle_ms: float = 0.0
    backpressured_ms: float = 0.0


@dataclass
class Run:
    """A job of the script: its state, where its operators are, and what it started from.

    Parameters
    ----------
    tasks
        The state of its tasks.
    ready_s
        When its tasks leave the state SCHEDULED or INITIALIZING; None: they have.
    waiting
        Tuples that wait at the source.
    rescales_after
        Number of answers before it gets the numbers of instances that it requires; 0: it has them.
    fetched
        The counters that the server answers with.
    """

    state: str = "RUNNING"
    tasks: str = "RUNNING"
    hosts: dict[str, list[str]] = field(default_factory=dict)
    restored: str | None = None
    mapping: str | None = None
    stopped_at: str | None = None
    started_s: float = 0.0
    slower: float = 1.0
    waiting: float = 0.0
    counts: dict[str, list[Counts]] = field(default_factory=dict)
    fetched: dict[str, list[Counts]] = field(default_factory=dict)
    fetched_waiting: float = 0.0
    requirements: dict[str, tuple[int, int]] = field(default_factory=dict)
    rescales_after: int = 0

    @property
    def parallelism(self) -> dict[str, int]:
        """Operator -> number of its instances."""
        return {name: len(hosts) for name, hosts in self.hosts.items()}

    @property
    def runs(self) -> bool:
        """Whether the job and all its tasks run."""
        return self.state == "RUNNING" and self.tasks == "RUNNING"

    def advance(self, seconds: float, load: Load) -> None:
        """Let counters grow by the flow of the load; tuples wait while the job does not run."""
        if self.state not in ("RUNNING", "RESTARTING"):
            return
        flows_s = load.flows_s(self.parallelism, self.slower) if self.runs else {}
        read_s = next(iter(flows_s.values()), 0.0)
        self.waiting += (load.rate_s - read_s) * seconds
        if not self.runs:
            return
        held = read_s < min(load.rate_s, load.fetched_s)
        for name, instances in self.parallelism.items():
            rows = self.counts.setdefault(name, [Counts() for _ in range(instances)])
            busy = load.busy(name, instances, flows_s[name], self.slower)
            shares = load.shares(name, instances)
            bottleneck = max(busy) > 1 - 1e-9
            for row, share, used in zip(rows, shares, busy, strict=True):
                row.tuples += flows_s[name] * share * seconds
                row.busy_ms += used * seconds * 1e3
                rest_ms = (1 if isnan(used) else 1 - used) * seconds * 1e3
                if held and not bottleneck:
                    row.backpressured_ms += rest_ms
                elif not isnan(used):
                    row.idle_ms += rest_ms
            held = held and not bottleneck

    def fetch(self) -> None:
        """Let the server answer with the present counters from now on."""
        self.fetched = {name: [replace(row) for row in rows] for name, rows in self.counts.items()}
        self.fetched_waiting = self.waiting

    def move(self, hosts: Mapping[str, list[str]], now_s: float) -> None:
        """Run elsewhere, with counters that begin anew."""
        self.hosts = {name: list(on) for name, on in hosts.items()}
        self.counts, self.fetched, self.started_s = {}, {}, now_s
