"""Kills, interrupts and disks that fail, a few of each; and what is not atomic is noticed."""

import random
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.hardening import disks, pairs
from benchmarks.hardening.forks import Forks
from benchmarks.hardening.interrupts import interrupt
from benchmarks.hardening.kills import Tally, kill_leaders, kill_training, kill_writers
from benchmarks.hardening.mounts import own_mounts
from benchmarks.hardening.writers import ENVIRONMENT, WARM
from benchmarks.hardening.writing import (
    Command,
    generating,
    make_inputs,
    placing,
    resuming,
    training,
)

FEW = 3


@pytest.fixture(scope="module")
def place_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("writers")


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks(ENVIRONMENT, WARM) as made:
        yield made


@pytest.fixture(scope="module")
def inputs(forks: Forks, place_of_tests: Path) -> Path:
    make_inputs(forks, place_of_tests / "inputs")
    return place_of_tests / "inputs"


@pytest.fixture(scope="module")
def train(forks: Forks, inputs: Path, place_of_tests: Path) -> tuple[Command, str]:
    return training(forks, inputs, place_of_tests)


@pytest.fixture(scope="module")
def place(forks: Forks, inputs: Path, place_of_tests: Path) -> Command:
    return placing(forks, inputs, place_of_tests)


def test_train_killed(forks: Forks, train: tuple[Command, str]) -> None:
    (row,) = kill_training(forks, *train, FEW, random.Random(1))
    assert row.good, row.faults


def test_writers_killed(forks: Forks, place: Command) -> None:
    (row,) = kill_writers(forks, [place], FEW, random.Random(2))
    assert row.good, row.faults


def test_no_process_outlives_the_first(forks: Forks, inputs: Path, place_of_tests: Path) -> None:
    (row,) = kill_leaders(
        forks, [generating(forks, inputs, place_of_tests, 2)], FEW, random.Random(3)
    )
    assert row.good, row.faults


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(
    number: signal.Signals, forks: Forks, train: tuple[Command, str], place: Command
) -> None:
    row = interrupt(forks, [train[0], place], train[1], number, FEW, random.Random(4))
    assert row.good, row.faults


def test_disks(train: tuple[Command, str], place: Command, forks: Forks) -> None:
    try:
        with own_mounts(), Forks(ENVIRONMENT) as here:
            rows = [
                disks.full(here, [place], train[1], FEW, random.Random(5)),
                disks.read_only(here, [place], FEW),
            ]
    except PermissionError:
        pytest.skip("needs root")
    assert all(row.good for row in rows), [row.faults for row in rows]
