"""Ray and Dask clusters of two machines, which stand for themselves as processes on this one."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.support.cli import ENVIRONMENT
from tests.support.processes import free_ports

START_S = 60
PACKAGES = {"ray": "ray", "dask": "distributed"}
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}  # for these tests
OF_CLUSTERS = {**ENVIRONMENT, **TOKEN, "RAY_USAGE_STATS_ENABLED": "0"}
HERE = "127.0.0.1"
RAY = ["ray.scripts.scripts", "start", "--block", f"--node-ip-address={HERE}"]
RAY += ["--object-store-memory=100000000"]
DASK = ["--host", HERE, "--no-dashboard"]
JOINED = """
import sys, time
from streamplace.execution.backends import Backend, cluster_of_jobs
with cluster_of_jobs(Backend(*sys.argv[1:3]), 1) as cluster:
    while cluster.processes < int(sys.argv[3]):
        time.sleep(0.2)
"""

Options = list[str]


@contextmanager
def two_machines(name: str) -> Iterator[Options]:
    """Start a cluster with one process on each machine; return the options that name it.

    The machines start one after another, since two of Ray might choose the same ports.
    """
    pytest.importorskip(PACKAGES[name])
    (port,), folder = free_ports(1), tempfile.mkdtemp(prefix="sp")  # short, as in paths of sockets
    address = f"{HERE}:{port}"
    if name == "ray":
        no_work = ["--num-cpus=0", "--include-dashboard=false"]
        head = [*RAY, "--head", f"--port={port}", f"--temp-dir={folder}", *no_work]
        machine = [*RAY, f"--address={address}", "--num-cpus=1"]
    else:
        head = ["dask", "scheduler", "--port", str(port), *DASK]
        machine = ["dask", "worker", f"tcp://{address}", "--nworkers", "1", "--nthreads", "1"]
        machine += ["--local-directory", folder, *DASK]
    try:
        with ExitStack() as stack:
            _wait_for(port, stack.enter_context(_started(head)))
            for count in (1, 2):
                stack.enter_context(_started(machine))
                words = [sys.executable, "-c", JOINED, name, address, str(count)]
                subprocess.run(words, env=OF_CLUSTERS, check=True, stderr=subprocess.DEVNULL)
            yield ["--backend", name, "--address", address]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _started(command: list[str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a module of Python, and end it with its children."""
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        env=OF_CLUSTERS,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Wait until a program listens at a port."""
    until = time.monotonic() + START_S
    while True:
        assert process.poll() is None, "the cluster did not start"
        assert time.monotonic() < until, "the cluster does not answer"
        try:
            socket.create_connection((HERE, port), 1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
