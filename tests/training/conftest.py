"""Fixtures for the training tests."""

from collections.abc import Iterator

import pytest

from tests.support.processes import hidden_gpus


@pytest.fixture(scope="session", autouse=True)
def no_gpu() -> Iterator[None]:
    """Hide the GPUs from all training tests."""
    with hidden_gpus():
        yield
