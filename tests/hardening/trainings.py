"""What the tests of damaged and malicious files share: short trainings, and what forks."""

from collections.abc import Iterator

import pytest

from benchmarks.hardening import warm
from benchmarks.hardening.forks import Forks
from benchmarks.hardening.rows import Row
from benchmarks.hardening.trained import Trained


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Return short trainings; tests leave their files as they are."""
    return Trained.made(tmp_path_factory.mktemp("trained"))


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks(modules=warm.READING_WEIGHTS) as started:
        yield started


def check(row: Row) -> None:
    assert row.good, f"{row}\n" + "\n".join(row.faults)
