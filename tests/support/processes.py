"""Free ports, and GPUs for tests."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.support.cli import ENVIRONMENT
from tests.support.paths import ROOT

GPU = Path("/dev/nvidia0")
"""The device file of the first NVIDIA GPU, which exists only if there is one."""

needs_gpu = pytest.mark.skipif(not GPU.exists(), reason="needs an NVIDIA GPU")


def free_ports(count: int) -> list[int]:
    """Return ports of this machine on which nothing listens."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]


def run_on_gpu(program: str, *arguments: str) -> None:
    """Run a Python program in a new process that can use the GPU; it must exit with 0.

    Once CUDA is initialised, `hidden_gpus` no longer hides it from a process.
    """
    environment = {k: v for k, v in ENVIRONMENT.items() if k != "CUDA_VISIBLE_DEVICES"}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr


@contextmanager
def hidden_gpus() -> Iterator[None]:
    """Hide the GPUs, since sums are reproducible to the last bit only on a CPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_VISIBLE_DEVICES", "")
        yield
