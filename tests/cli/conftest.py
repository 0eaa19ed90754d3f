"""Fixtures for tests of the command line."""

import pytest

from tests.support.input_files import InputFiles, write_input_files


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> InputFiles:
    """Return valid input files, which tests only read."""
    return write_input_files(tmp_path_factory.mktemp("inputs"))
