"""Determinism: equal bytes in any environment, folder and process; differences are counted."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.hardening.campaigns.determinism import campaign, makespans, refining, training
from benchmarks.hardening.campaigns.determinism.surroundings import (
    GRAPHS,
    JOBS,
    Surroundings,
    differences_row,
    without_fields,
)
from benchmarks.hardening.harness.measured_commands import COMMAND
from benchmarks.hardening.harness.rows import Row
from streamplace.execution.parallel import ITEMS_PER_PROCESS
from streamplace.placers.registry import names_for

PROCESSES = 2  # the second has another number of threads and another folder
RUNS_OF_WORKERS = len(JOBS)  # one process for each number of workers
FAST = "greedy,random"


def check(row: Row, tried: int) -> None:
    assert row.good, f"{row}\n" + "\n".join(row.faults)
    assert row.tried == tried


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def test_generate_is_deterministic(tmp_path: Path, rng: np.random.Generator) -> None:
    check(campaign.generate_row(tmp_path, RUNS_OF_WORKERS, rng, ["layered"]), 2 * RUNS_OF_WORKERS)


def test_compare_is_deterministic(tmp_path: Path, rng: np.random.Generator) -> None:
    check(campaign.compare_row(tmp_path, RUNS_OF_WORKERS, rng, FAST), RUNS_OF_WORKERS)


def test_makespans_are_deterministic(tmp_path: Path, rng: np.random.Generator) -> None:
    row = makespans.place_row(tmp_path, PROCESSES, rng, ["search:evaluations=2000"])
    check(row, PROCESSES * (1 + len(makespans.SETTINGS)))
    check(makespans.compare_row(tmp_path, RUNS_OF_WORKERS, rng, "heft,peft"), RUNS_OF_WORKERS)


@pytest.mark.parametrize("part", [campaign, makespans])
def test_shipped_policies_are_repeated(part: Any) -> None:
    """Policies that are trained on each problem take too long."""
    placed = {placer.partition(":")[0] for placer in part.PLACERS}
    names = names_for("throughput" if part is campaign else "makespan")
    assert {"giph", "rebuild", "policy"} & {*names} <= placed


@pytest.mark.long
def test_refiners_are_deterministic(tmp_path: Path, rng: np.random.Generator) -> None:
    row = refining.refine_row(tmp_path, PROCESSES, rng, count=4)
    check(row, PROCESSES * (len(refining.OPTIONS) + 2))


def test_the_graphs_occupy_all_workers() -> None:
    assert JOBS == (1, 2, 4)
    assert max(JOBS) <= GRAPHS // ITEMS_PER_PROCESS


def test_search_is_deterministic(tmp_path: Path, rng: np.random.Generator) -> None:
    check(campaign.place_row(tmp_path, PROCESSES, rng, ["search:evaluations=5000"]), 4)


def test_training_is_deterministic(tmp_path: Path, rng: np.random.Generator) -> None:
    check(training.training_row(tmp_path, PROCESSES, rng, ["device-scorer"], steps=6), 2)


def by_python(program: str) -> Callable[[Surroundings], bytes]:
    return lambda around: around.run(sys.executable, "-c", program).encode()


@pytest.mark.parametrize(
    ("program", "differences"),
    [
        ("print(hash('a'))", 4),
        ("import os; print(os.environ['OMP_NUM_THREADS'])", 1),
        ("import os; print(os.getcwd())", 4),
        ("import time; print(time.strftime('%z'))", 2),
        ("import os; print(os.environ['LC_ALL'])", 1),
        ("import os; print(os.getpid())", 4),
        ("import random; print(random.random())", 4),
        ("import time; print(time.time_ns())", 4),
        ("print('the same')", 0),
    ],
)
def test_a_result_that_depends_on_its_surroundings_is_noticed(
    program: str, differences: int, tmp_path: Path, rng: np.random.Generator
) -> None:
    row = differences_row("x", [("program", by_python(program))], 5, tmp_path, rng)
    assert row.tried == 5
    assert row.wrong == {"differences": differences, "failed": 0}
    assert row.good == (differences == 0)


def test_results_are_compared_only_with_runs_of_the_same_program(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    same = [(name, by_python(f"print({name!r})")) for name in "ab"]
    assert differences_row("x", same, 2, tmp_path, rng).good


def test_failures_are_counted(tmp_path: Path, rng: np.random.Generator) -> None:
    def place(around: Surroundings) -> bytes:
        return around.run(*COMMAND, "place", "nobody.json").encode()

    row = differences_row("x", [("place", place)], 2, tmp_path, rng)
    assert row.wrong == {"differences": 0, "failed": 2}
    assert "nobody.json: no such file" in row.faults[0]


def test_processes_are_new_and_get_the_random_variables(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    around = Surroundings.drawn(tmp_path, 3, rng)
    seed, pid = around.run(
        sys.executable, "-c", "import os; print(os.environ['PYTHONHASHSEED'], os.getpid())"
    ).split()
    assert seed == around.variables["PYTHONHASHSEED"]
    assert int(pid) != os.getpid()
    seeds = {Surroundings.drawn(tmp_path, n, rng).variables["PYTHONHASHSEED"] for n in range(4, 14)}
    assert len(seeds) == 10


def test_only_the_named_fields_are_left_out() -> None:
    value = {"rows": [{"placer": "metis", "seconds": 3.0}], "seconds": 1, "mean": 0.5}
    assert without_fields(value, ("seconds",)) == {"rows": [{"placer": "metis"}], "mean": 0.5}
