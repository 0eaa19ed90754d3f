"""Fixtures for tests of the command line."""

from collections.abc import Iterator

import pytest

from tests.support.input_files import InputFiles, write_input_files
from tests.support.processes import hidden_gpus


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> InputFiles:
    """Return valid input files, which tests only read."""
    return write_input_files(tmp_path_factory.mktemp("inputs"))


@pytest.fixture(scope="module")
def no_gpu() -> Iterator[None]:
    """Hide the GPUs from the tests of a module."""
    with hidden_gpus():
        yield
