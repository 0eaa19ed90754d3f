"""Fixtures for tests of policies."""

from collections.abc import Iterator

import pytest

from tests.support.torch_threads import one_torch_thread


@pytest.fixture(scope="package", autouse=True)
def one_thread() -> Iterator[None]:
    """Limit torch to one thread in every test of policies."""
    with one_torch_thread():
        yield
