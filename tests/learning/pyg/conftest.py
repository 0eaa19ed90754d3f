"""Fixtures for tests of PyTorch Geometric data."""

from collections.abc import Iterator

import pytest

from tests.support.torch_threads import one_torch_thread


@pytest.fixture(scope="package", autouse=True)
def one_thread() -> Iterator[None]:
    """Compute on one thread in every test of this folder."""
    with one_torch_thread():
        yield
