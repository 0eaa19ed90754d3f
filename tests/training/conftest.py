"""Fixtures for tests of training."""

from collections.abc import Iterator

import pytest

from tests.support.processes import hidden_gpus


@pytest.fixture(scope="session", autouse=True)
def no_gpu() -> Iterator[None]:
    """Hide the GPUs from every test of training."""
    with hidden_gpus():
        yield
