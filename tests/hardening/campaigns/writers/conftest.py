"""Fixtures: a fork server, and commands to stop while they write."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchmarks.hardening.campaigns.writers.campaign import ENVIRONMENT
from benchmarks.hardening.campaigns.writers.training_runs import train_command
from benchmarks.hardening.campaigns.writers.workloads import place_command, write_inputs
from benchmarks.hardening.campaigns.writers.writing_command import WritingCommand
from benchmarks.hardening.harness.forks import Forks
from benchmarks.hardening.harness.mounts import own_mounts
from benchmarks.hardening.targets import warm_up


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Return a fork server, with private mounts where this process may have them."""
    with ExitStack() as later:
        later.enter_context(own_mounts())
        yield later.enter_context(Forks(ENVIRONMENT, warm_up.WRITING))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the commands write."""
    return tmp_path_factory.mktemp("stopping")


@pytest.fixture(scope="module")
def inputs(forks: Forks, folder: Path) -> Path:
    """Return the folder of the commands' inputs."""
    write_inputs(forks, folder / "inputs")
    return folder / "inputs"


@pytest.fixture(scope="module")
def train(forks: Forks, inputs: Path, folder: Path) -> tuple[WritingCommand, str]:
    """Return `train`, and the hash of its parameters."""
    return train_command(forks, inputs, folder)


@pytest.fixture(scope="module")
def place(forks: Forks, inputs: Path, folder: Path) -> WritingCommand:
    """Return `place`."""
    return place_command(forks, inputs, folder)
