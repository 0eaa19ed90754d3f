"""The process of a device, which reads jobs from stdin and answers on stdout.

The protocol is that of the worker of streams: a job is one line, which is answered when its
connections exist and when it has run; in between the process reads the start time.
"""

import gc
import json
import random
import socket
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from benchmarks.testbed.latency.worker.frames import Incoming, Outgoing
from benchmarks.testbed.latency.worker.server import Operator, Output, Server
from benchmarks.testbed.worker.__main__ import answer, connected, main

SLACK = Path("/proc/self/timerslack_ns")  # by which the kernel may prolong a wait; 50,000 at first


def run(job: dict[str, Any], listener: socket.socket) -> None:
    """Connect the devices, serve the tuples of a job, and send the results."""
    with ExitStack() as stack:
        server = built(job, connected(job, listener, stack))
        answer("ready")
        started = json.loads(sys.stdin.readline())
        gc.collect()
        gc.disable()  # a collection would delay tuples
        answer(server.run(started["start_s"], job["seconds"]))
        gc.enable()
        sys.stdin.readline()  # wait until all devices are done: to them a closed link is an error


def built(job: dict[str, Any], links: dict[int, socket.socket]) -> Server:
    """Return the server of a job."""
    sizes = {int(stream): size for stream, size in job["sizes"].items()}
    ends = {each["number"]: each for each in job["streams"]}  # streams of bytes between devices
    return Server(
        {
            v: Operator(cost_ns, births_s, [Output(*each) for each in outputs])
            for v, cost_ns, births_s, outputs in job["operators"]
        },
        {int(stream): v for stream, v in job["target"].items()},
        [Incoming(links[n], sizes) for n, each in ends.items() if "to" not in each],
        {each["device"]: Outgoing(links[n], sizes) for n, each in ends.items() if "to" in each},
        job["speed"],
        random.Random(job["seed"]),
        exponential=job["exponential"],
    )


if __name__ == "__main__":
    with suppress(OSError):
        SLACK.write_text("1")
    try:
        main(run)
    except ConnectionError:
        sys.exit(1)  # another device has ended; the parent process reports that
