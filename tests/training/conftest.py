"""Training runs of tests are on the processor, where the same sums are the same to the last bit."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def no_gpu() -> Iterator[None]:
    """Hide the GPUs of this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_VISIBLE_DEVICES", "")
        yield
