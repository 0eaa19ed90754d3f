"""Fixtures for tests of PyTorch Geometric data."""

import warnings
from collections.abc import Iterator

import pytest

from tests.support.torch_threads import one_torch_thread

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", ".torch.jit.script. is deprecated", DeprecationWarning)
    import torch_geometric  # noqa: F401 - warns when imported, and tests turn warnings into errors


@pytest.fixture(scope="package", autouse=True)
def one_thread() -> Iterator[None]:
    """Compute on one thread in every test of this folder."""
    with one_torch_thread():
        yield
