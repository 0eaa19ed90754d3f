"""Fixtures: short training runs, and a fork server with torch loaded."""

from collections.abc import Iterator

import pytest

from benchmarks.hardening.harness.forks import Forks
from benchmarks.hardening.targets import warm_up
from benchmarks.hardening.targets.trained_files import TrainedFiles


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TrainedFiles:
    """Return short training runs, whose files tests must not change."""
    return TrainedFiles.create(tmp_path_factory.mktemp("trained"))


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Return a fork server that has loaded the readers of weights."""
    with Forks(modules=warm_up.READING_WEIGHTS) as started:
        yield started
