"""The process of a device, which reads jobs from stdin and answers on stdout.

A job is one line of JSON. It is answered twice: when all its streams are connected, and when it has
run; in between the process reads the start time. The process ends when its stdin closes, and
therefore when the process that started it ends.
"""

import json
import os
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from benchmarks.testbed.worker.loop import Loop
from benchmarks.testbed.worker.operators import Operator, Output
from benchmarks.testbed.worker.wires import Queue, Receiver, Sender

PORT = 7000
TIMEOUT_S = 20.0
WINDOW_BYTES = 65_536
_HELLO = struct.Struct("!II")


def main(run: Callable[[dict[str, Any], socket.socket], None]) -> None:
    """Run jobs until stdin closes."""
    os.sched_setaffinity(0, {int(sys.argv[1])})
    with socket.create_server(("", PORT), backlog=1024, reuse_port=False) as server:
        _limit(server)  # accepted sockets inherit the limits
        answer("up")
        for line in iter(sys.stdin.readline, ""):
            run(json.loads(line), server)


def run(job: dict[str, Any], server: socket.socket) -> None:
    """Connect a job's streams, run it, and send its samples."""
    with ExitStack() as stack:
        links = connected(job, server, stack)
        loop = built(job, links)
        answer("ready")
        started = json.loads(sys.stdin.readline())
        loop.run(started["start_s"], job["seconds"])
        operators = [(each.lost, each.debt_ns) for each in loop.operators]
        answer({"samples": loop.samples, "operators": operators})
        sys.stdin.readline()  # wait until all devices are done: to them a closed link is an error


def connected(
    job: dict[str, Any], server: socket.socket, stack: ExitStack
) -> dict[int, socket.socket]:
    """Return the socket of each stream between devices; the sender connects it."""
    links: dict[int, socket.socket] = {}
    for stream in job["streams"]:
        if stream.get("to") is not None:
            link = stack.enter_context(socket.socket())
            _limit(link)
            link.settimeout(TIMEOUT_S)
            link.connect((stream["to"], PORT))
            link.sendall(_HELLO.pack(job["number"], stream["number"]))
            links[stream["number"]] = link
    expected = {stream["number"] for stream in job["streams"] if stream.get("remote_source")}
    server.settimeout(TIMEOUT_S)
    while expected:
        link = stack.enter_context(server.accept()[0])
        link.settimeout(TIMEOUT_S)
        number, stream = _HELLO.unpack(link.recv(_HELLO.size, socket.MSG_WAITALL))
        if number == job["number"]:  # otherwise it is left from a job that failed
            expected.discard(stream)
            links[stream] = link
    for link in links.values():
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.setblocking(False)
    return links


def built(job: dict[str, Any], links: dict[int, socket.socket]) -> Loop:
    """Return the loop of a job."""
    queues: dict[int, Queue] = {}
    for stream in job["streams"]:
        number, limit, size = stream["number"], stream["limit"], stream["bytes"]
        if number not in links:
            queues[number] = Queue(limit)
        elif stream.get("to") is not None:
            queues[number] = Sender(limit, size, links[number])
        else:
            queues[number] = Receiver(limit, size, links[number])
    operators = [
        Operator(
            each["cost_ns"],
            [queues[number] for number in each["inputs"]],
            [Output(queues[n], selectivity, phase) for n, selectivity, phase in each["outputs"]],
            each["rate"],
            each["backlog"],
        )
        for each in job["operators"]
    ]
    wires = [queue for queue in queues.values() if isinstance(queue, Sender | Receiver)]
    return Loop(operators, wires)


def answer(message: object) -> None:
    """Send a message to the process that started this device."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def _limit(link: socket.socket) -> None:
    """Keep socket buffers small, because data in them delays all streams that share a link.

    Congestion control is Reno: no packet is lost, so that only the windows limit a sender.
    """
    link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, WINDOW_BYTES // 2)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, WINDOW_BYTES // 2)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")


if __name__ == "__main__":
    try:
        main(run)
    except ConnectionError:
        sys.exit(1)  # another device has ended; the parent process reports that
