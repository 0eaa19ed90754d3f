"""Devices that exist within a ``with`` block: namespaces, quotas, shaped links and processes."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from benchmarks.testbed import wiring
from benchmarks.testbed.facilities import TestbedError
from benchmarks.testbed.groups import Group, kill, remove
from benchmarks.testbed.ownership import own_prefix
from benchmarks.testbed.programs import ip
from benchmarks.testbed.wiring import Packets
from streamplace.problem.cluster import NetworkKind

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 60.0  # more than a job takes, which includes connecting the devices
_made = 0


class Devices:
    """Devices with shares of a core, and links between them; used inside `swept`.

    Parameters
    ----------
    kind
        Kind of the network.
    shares
        (D,) share of a core of each of D devices.
    mbps
        (L,) bandwidth of each of L links in Mbit/s, in the order of `Cluster.link_ends`.
    program
        Module that the process of a device runs. Its argument is the number of a core, and it
        answers with one line when it is ready for jobs.
    packets
        How links cut and pass what is sent.
    """

    def __init__(
        self,
        kind: NetworkKind,
        shares: Sequence[float],
        mbps: Sequence[float],
        program: str,
        packets: Packets,
    ) -> None:
        global _made  # noqa: PLW0603  # makes the names of one process unique
        _made += 1
        self.kind = kind
        prefix = f"{own_prefix()}{_made}"
        self.switch = f"{prefix}s"
        self.devices = [f"{prefix}d{d}" for d in range(len(shares))]
        self.shares = tuple(shares)
        self.mbps = tuple(mbps)
        self.packets = packets
        self.workers: list[subprocess.Popen[str]] = []
        self.groups: list[Group] = []
        self._program = program

    def __enter__(self) -> Self:
        wiring.build(self.switch, self.devices, self.packets)
        wiring.shape(self.kind, self.switch, self.devices, self.mbps, self.packets.burst_bytes)
        cores = sorted(os.sched_getaffinity(0))
        for d, (device, share) in enumerate(zip(self.devices, self.shares, strict=True)):
            self.groups.append(Group(device, share))
            self.workers.append(_worker(self._program, device, cores[d % len(cores)]))
        for worker, group in zip(self.workers, self.groups, strict=True):
            _receive(worker)
            group.add(worker.pid)
        return self

    def __exit__(self, *_: object) -> None:
        """End the devices and remove them; `swept` removes what an interruption leaves."""
        for worker in self.workers:
            kill(worker.pid)
        for worker in self.workers:
            for pipe in (worker.stdin, worker.stdout):
                with suppress(OSError):
                    if pipe is not None:
                        pipe.close()
            worker.wait()
        for group in self.groups:
            for folder in group.folders:
                remove(folder)
        ip(f"netns del {name}" for name in (self.switch, *self.devices))

    def send(self, messages: Sequence[object]) -> None:
        """Send each device its message, (D,).

        Raises
        ------
        TestbedError
            If the process of a device has ended.
        """
        for worker, message in zip(self.workers, messages, strict=True):
            _send(worker, message)

    def receive(self, timeout_s: float = TIMEOUT_S) -> list[Any]:
        """Return the answer of each device, (D,).

        Parameters
        ----------
        timeout_s
            Seconds to wait for each of them.

        Raises
        ------
        TestbedError
            If a device has ended or does not answer.
        """
        return [_receive(worker, timeout_s) for worker in self.workers]


def _worker(program: str, namespace: str, core: int) -> subprocess.Popen[str]:
    """Start the process of a device, which ends when its stdin closes.

    It has its own session, so that Ctrl-C reaches only the run, which then cleans up.
    """
    return subprocess.Popen(
        ["ip", "netns", "exec", namespace, sys.executable, "-m", program, str(core)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )  # fmt: skip


def _send(worker: subprocess.Popen[str], message: object) -> None:
    assert worker.stdin is not None
    try:
        worker.stdin.write(json.dumps(message) + "\n")
        worker.stdin.flush()
    except BrokenPipeError:
        raise TestbedError("the process of a device has ended") from None


def _receive(worker: subprocess.Popen[str], timeout_s: float = TIMEOUT_S) -> Any:
    assert worker.stdout is not None
    if not select.select([worker.stdout], [], [], timeout_s)[0]:
        raise TestbedError(f"no answer from a device within {timeout_s:g} s; is the machine busy?")
    line = worker.stdout.readline()
    if not line:
        raise TestbedError("the process of a device has ended")
    return json.loads(line)
