"""A Flink cluster whose TaskManagers run on the testbed's devices."""

import ctypes
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from local_flink import TASK_MANAGER, LocalFlink, equal

from benchmarks.testbed import wiring
from benchmarks.testbed.flink.documents import arrived, lines
from benchmarks.testbed.groups import Group
from benchmarks.testbed.leftovers import NAMESPACES
from benchmarks.testbed.measures import arriving
from benchmarks.testbed.ownership import own_prefix
from benchmarks.testbed.programs import ip
from benchmarks.testbed.scaling import Scaled
from streamplace.util.arrays import Ints

MASTER = "10.88.255.254"
COMPILE_S = 4.0  # without CPU limits, so that Java compiles the code that it runs
NET = "/proc/self/ns/net"


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Enter a network namespace; processes that are started in the block run in it too."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(NET, "rb") as home, open(NAMESPACES / namespace, "rb") as entered:
        if libc.setns(entered.fileno(), 0):
            raise OSError(ctypes.get_errno(), f"cannot enter the network namespace {namespace}")
        try:
            yield
        finally:
            libc.setns(home.fileno(), 0)


class TestbedFlink(LocalFlink):
    """A Flink cluster with its JobManager in the switch's namespace and TaskManagers in devices."""

    def __init__(
        self, home: Path, folder: Path, devices: Sequence[str], groups: Sequence[Group]
    ) -> None:
        super().__init__(home, folder, equal(len(devices)), MASTER)
        self.devices = devices
        self.groups = groups

    def _start_task_manager(self, i: int) -> None:
        own = wiring.address(i)
        options = {"resource-id": f"tm{i}", "host": own, "bind-host": own}
        words = [
            word
            for name, value in options.items()
            for word in ("-D", f"taskmanager.{name}={value}")
        ]
        launcher = ["ip", "netns", "exec", self.devices[i]]
        pid = self._start(f"tm{i}", TASK_MANAGER, "192m", words, launcher)
        self.groups[i].add(pid)

    def measure(
        self, jar: Path, scaled: Scaled, devices: Ints, warm_s: float, seconds: float
    ) -> float:
        """Run a placement of a scaled problem, (V,); return its relative throughput."""
        graph = scaled.problem.graph
        sinks = {int(v): self.folder / f"sink{v}.txt" for v in graph.sinks}
        for file in sinks.values():
            file.unlink(missing_ok=True)
        document = self.folder / "graph.txt"
        document.write_text("\n".join(lines(scaled, devices, sinks)) + "\n")
        self.limit(None)
        job = self.run(jar, [str(document)])
        time.sleep(COMPILE_S)
        self.limit(scaled.shares)
        time.sleep(warm_s)
        begin = time.monotonic()
        time.sleep(seconds)
        end = time.monotonic()
        time.sleep(0.3)  # a sink reports its count a few times per second
        self.limit(None)
        self.cancel(job)
        return sum(arrived(file, begin, end) for file in sinks.values()) / arriving(scaled)

    def limit(self, shares: Sequence[float] | None) -> None:
        """Set the devices' shares of a core, (D,); None: no limit."""
        for d, group in enumerate(self.groups):
            group.limit(None if shares is None else shares[d])


@contextmanager
def flink(home: Path, folder: Path, scaled: Scaled) -> Iterator[TestbedFlink]:
    """Yield a Flink cluster on devices with the network of a scaled problem."""
    prefix = f"{own_prefix()}f"
    switch, devices = f"{prefix}s", [f"{prefix}d{d}" for d in range(len(scaled.shares))]
    wiring.build(switch, devices, wiring.STREAMING)
    wiring.shape(
        scaled.problem.cluster.network.kind,
        switch,
        devices,
        scaled.mbps,
        wiring.STREAMING.burst_bytes,
    )
    ip([f"address add {MASTER}/16 dev bridge", "link set lo up"], switch)
    groups = [Group(device, None) for device in devices]
    made = TestbedFlink(home, folder, devices, groups)
    with inside(switch), made:
        yield made
