"""What the tests that stop commands share: a process that forks, and commands to stop."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchmarks.hardening import warm
from benchmarks.hardening.forks import Forks
from benchmarks.hardening.mounts import own_mounts
from benchmarks.hardening.training_runs import training
from benchmarks.hardening.writers import ENVIRONMENT
from benchmarks.hardening.writing import Command
from benchmarks.hardening.writing_commands import make_inputs, placing


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Return what forks, with mounts of its own where this process may have any."""
    with ExitStack() as later:
        later.enter_context(own_mounts())
        yield later.enter_context(Forks(ENVIRONMENT, warm.WRITING))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the commands write."""
    return tmp_path_factory.mktemp("stopping")


@pytest.fixture(scope="module")
def inputs(forks: Forks, folder: Path) -> Path:
    """Return the files that the commands read."""
    make_inputs(forks, folder / "inputs")
    return folder / "inputs"


@pytest.fixture(scope="module")
def train(forks: Forks, inputs: Path, folder: Path) -> tuple[Command, str]:
    """Return `train`, and the hash of its parameters."""
    return training(forks, inputs, folder)


@pytest.fixture(scope="module")
def place(forks: Forks, inputs: Path, folder: Path) -> Command:
    """Return `place`."""
    return placing(forks, inputs, folder)
