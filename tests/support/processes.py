"""Free ports and hidden GPUs for tests."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest


def free_ports(count: int) -> list[int]:
    """Return ports of this machine on which nothing listens."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]


@contextmanager
def hidden_gpus() -> Iterator[None]:
    """Hide the GPUs, since sums are reproducible to the last bit only on a CPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_VISIBLE_DEVICES", "")
        yield
