"""The process of a device, which reads jobs from stdin and answers on stdout.

The first line says how the device is connected: its speed, the addresses of the other devices, and
whether it has one channel for all of them. A job is one line. It is answered twice: when the
device is prepared, and when all of its operators have run; in between the process reads the start
time. The process ends when its stdin closes, and therefore when the process that started it ends.
"""

import json
import os
import socket
import struct
import sys
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any

from benchmarks.testbed.passes.worker.channels import (
    SEND_BUFFER_BYTES,
    Channel,
    Outgoing,
    ends_with_the_process,
    receive,
)
from benchmarks.testbed.passes.worker.executor import Arrival, Executor, Task
from benchmarks.testbed.passes.worker.pacing import Pacer
from benchmarks.testbed.worker.__main__ import PORT, TIMEOUT_S, answer

_HELLO = struct.Struct("!I")


class Device:
    """The connections of a device, and the jobs that it runs.

    Parameters
    ----------
    wiring
        The first line: ``device`` (its index), ``speed``, ``addresses`` of all devices, and
        ``one_channel``.
    """

    def __init__(self, wiring: dict[str, Any], server: socket.socket) -> None:
        self.arrivals: SimpleQueue[Arrival] = SimpleQueue()
        self._pacer = Pacer(wiring["speed"])
        own, addresses = wiring["device"], wiring["addresses"]
        others = [d for d in range(len(addresses)) if d != own]
        self._links = {d: _connected(own, addresses[d]) for d in others}
        self._latency_s = {d: [0.0] for d in others}
        if wiring["one_channel"]:
            shared = Channel(several=True)
            self._channels = dict.fromkeys(others, shared)
        else:
            self._channels = {d: Channel(several=False) for d in others}
        for _ in others:
            link = server.accept()[0]
            link.settimeout(None)
            (sender,) = _HELLO.unpack(link.recv(_HELLO.size, socket.MSG_WAITALL))
            work = partial(receive, link, self.arrivals, self._latency_s[sender])
            Thread(target=ends_with_the_process(work), daemon=True).start()

    def prepared(self, job: dict[str, Any]) -> Executor:
        """Return the executor of a job."""
        for sender, latency_s in job["latency_s"].items():
            self._latency_s[int(sender)][0] = latency_s
        outgoing = {
            number: Outgoing(self._links[to], job["number"], number, size)
            for number, to, size in job["messages"]
        }
        channel = {number: self._channels[to] for number, to, _ in job["messages"]}
        return Executor(
            job["number"],
            [Task(*each) for each in job["tasks"]],
            dict(job["consumers"]),
            self.arrivals,
            self._pacer.work,
            lambda number: channel[number].put(outgoing[number]),
        )


def _connected(own: int, address: str) -> socket.socket:
    """Return a connection to another device, which begins with the number of this one."""
    link = socket.socket()
    link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    link.settimeout(TIMEOUT_S)
    link.connect((address, PORT))
    link.settimeout(None)
    link.sendall(_HELLO.pack(own))
    return link


def main() -> None:
    """Run jobs until stdin closes."""
    os.sched_setaffinity(0, {int(sys.argv[1])})
    lines: SimpleQueue[str] = SimpleQueue()
    Thread(target=ends_with_the_process(partial(_read, lines)), daemon=True).start()
    with socket.create_server(("", PORT), backlog=1024, reuse_port=False) as server:
        server.settimeout(TIMEOUT_S)
        answer("up")
        device = Device(json.loads(lines.get()), server)
        answer("connected")
        while True:
            executor = device.prepared(json.loads(lines.get()))
            answer("ready")
            answer(executor.run(json.loads(lines.get())["start_s"]))


def _read(lines: "SimpleQueue[str]") -> None:
    """Read lines until stdin closes, also while operators run."""
    for line in iter(sys.stdin.readline, ""):
        lines.put(line)


if __name__ == "__main__":
    try:
        main()
    except ConnectionError:
        sys.exit(1)  # another device has ended; the parent process reports that
