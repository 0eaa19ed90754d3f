"""A fork server with torch loaded."""

from collections.abc import Iterator

import pytest

from benchmarks.hardening.harness.forks import Forks
from benchmarks.hardening.targets import warm_up


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Return a fork server that has loaded the readers of weights."""
    with Forks(modules=warm_up.READING_WEIGHTS) as started:
        yield started
