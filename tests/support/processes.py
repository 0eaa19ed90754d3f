"""Processes, ports and the surroundings of tests."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest


def free_ports(count: int) -> list[int]:
    """Return ports of this machine on which nothing listens."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


@contextmanager
def hidden_gpus() -> Iterator[None]:
    """Hide the GPUs: on a CPU the same sums are the same to the last bit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_VISIBLE_DEVICES", "")
        yield
