"""`benchmarks.schedulers`: problems as other libraries read them, its tables, and SAGA itself."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import streamplace as sp
from benchmarks.schedulers.__main__ import files
from benchmarks.schedulers.comparison import ALL, Failure, Own, Row, compared, report
from benchmarks.schedulers.instances import Instance, by_start, instance_of
from benchmarks.schedulers.library import FailedError, Library
from streamplace.errors import ProblemError
from streamplace.makespan.evaluator import MakespanEvaluator

DIAMOND = Instance(
    name="diamond",
    costs=[2.0, 4.0, 6.0, 1.0],
    edges=[(0, 1, 3.0), (0, 2, 1.0), (1, 3, 5.0), (2, 3, 2.0)],
    speeds=[1.0, 2.0],
    links=[(0, 1, 4.0)],
)
SPLIT = [0, 1, 0, 0]  # devices of its tasks
SPLIT_S = 2 + 6 + 1.0
"""Its makespan by hand: task 1 runs from 2.75 to 4.75 and its message comes at 6, before 2 ends."""
INTERPRETER = "STREAMPLACE_SAGA_PYTHON"
needs_saga = pytest.mark.skipif(
    INTERPRETER not in os.environ, reason=f"needs an interpreter that has anrg-saga, {INTERPRETER}"
)


def test_an_instance_survives_json() -> None:
    with_own_links = DIAMOND.to_dict() | {"links": [[0, 0, 9.0], [0, 1, 4.0], [1, 1, 9.0]]}
    assert Instance.of(DIAMOND.to_dict()) == DIAMOND
    assert Instance.of(with_own_links) == DIAMOND


def test_a_problem_and_its_instance_have_the_same_makespans() -> None:
    problem = DIAMOND.problem()
    every = np.array(np.unravel_index(np.arange(16), (2,) * 4)).T
    again = instance_of("again", problem)
    makespans = MakespanEvaluator(problem).makespans(every)
    assert makespans[(every == SPLIT).all(axis=1)] == pytest.approx(SPLIT_S)
    assert MakespanEvaluator(again.problem()).makespans(every) == pytest.approx(makespans)


def test_a_schedule_is_replayed_in_its_order() -> None:
    assert DIAMOND.replayed(SPLIT, [0, 1, 2, 3]) == pytest.approx(SPLIT_S)
    chains = Instance("chains", [1.0, 1.0, 5.0], [(0, 2, 8.0)], [1.0, 1.0], [(0, 1, 4.0)])
    assert chains.replayed([0, 0, 1], [0, 1, 2]) == pytest.approx(1 + 2 + 5)
    assert chains.replayed([0, 0, 1], [1, 0, 2]) == pytest.approx(2 + 2 + 5)


def test_starts_at_one_time_follow_the_graph() -> None:
    no_time = replace(DIAMOND, costs=[0.0] * 4)
    assert by_start(no_time.problem(), [0.0, 0.0, 0.0, 0.0]) == [0, 1, 2, 3]
    assert by_start(DIAMOND.problem(), [0.0, 5.0, 1.0, 9.0]) == [0, 2, 1, 3]


def test_a_task_of_no_time_starts_before_another_one_of_that_moment() -> None:
    chain = Instance("chain", [5.0, 0.0, 0.0], [(1, 2, 0.0)], [1.0], [])
    assert by_start(chain.problem(), [0.0, 0.0, 0.0]) == [1, 2, 0]


def test_equal_devices_have_the_mean_speeds() -> None:
    three = Instance("three", [1.0], [], [1.0, 2.0, 6.0], [(0, 1, 1.0), (0, 2, 2.0), (1, 2, 6.0)])
    equal = three.on_equal_devices()
    assert not three.has_equal_devices
    assert equal.has_equal_devices
    assert equal.speeds == [3.0] * 3
    assert equal.links == [(0, 1, 3.0), (0, 2, 3.0), (1, 2, 3.0)]


@pytest.mark.parametrize(
    ("network", "cores", "what"),
    [
        (sp.Network("free"), 1, "latency"),
        (sp.Network("pair", latency_s=0.0), 1, "messages that wait"),
        (sp.Network("free", latency_s=0.0), 2, "several cores"),
    ],
)
def test_what_the_libraries_do_not_know_is_refused(
    network: sp.Network, cores: int, what: str
) -> None:
    plain = DIAMOND.problem()
    devices = [sp.Device(f"d{i}", 1.0, cores=cores) for i in range(2)]
    problem = sp.Problem(plain.graph, sp.Cluster(devices, network), objective=sp.Makespan())
    with pytest.raises(ProblemError, match=f"mine: other libraries do not know {what}"):
        instance_of("mine", problem)


def _row(instance: str, scheduler: str, theirs: float, auto: float) -> Row:
    own = Own(auto, auto, 0.01)
    return Row(instance, scheduler, theirs, theirs, theirs, 0.002, own, own)


def test_the_table_states_losses_first(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        *(_row(f"saga {i}", "Worse", 2.0, 1.0) for i in range(3)),
        *(_row(f"saga {i}", "Better", 1.0 if i else 0.8, 1.0) for i in range(3)),
        *(_row(f"saga {i}", ALL, 1.0 if i else 0.8, 1.0) for i in range(3)),
    ]
    report(rows, [Failure("saga 0", "Lost", "tasks are missing")] * 2)
    loss, _, *lines, failed = capsys.readouterr().out.splitlines()
    assert loss.startswith("loss: saga 0 to Better: 1.2500 by theirs, 1.2500 by ours")
    assert [line[:22].rstrip() for line in lines[:3]] == [ALL, "Better", "Worse"]
    assert lines[1].split()[1:5] == ["3", "1", "2", "1.2500"]
    assert lines[2].split()[1:5] == ["3", "0", "0", "0.5000"]
    assert "equal on 3 of 3" in lines[3]
    assert failed == "failed: Lost on 2 graphs: tasks are missing"


def test_a_table_says_where_the_simulators_differ(capsys: pytest.CaptureFixture[str]) -> None:
    own = Own(1.0, 1.5, 0.01)
    report([Row("saga 0", "HEFT", 2.0, 1.0, 1.0, 0.002, own, own)], [])
    out = capsys.readouterr().out
    assert "auto: theirs over ours: equal on 0 of 1, from 1.5 to 1.5" in out
    assert "theirs: ours over theirs: equal on 0 of 1, from 0.5 to 0.5" in out
    assert "differ: HEFT" in out


def test_a_graph_of_a_file_runs_on_four_equal_devices(tmp_path: Path) -> None:
    path = tmp_path / "recorded.json"
    path.write_text(
        """{"format": "streamplace-graph", "version": 1, "firing": "all", "operators": [
            {"name": "a", "instructions": null, "payload_bytes": 1.25e8, "seconds_on": {"x": 3}},
            {"name": "b", "instructions": null, "payload_bytes": 0, "seconds_on": {"x": 1}}],
            "streams": [{"source": "a", "target": "b"}]}"""
    )
    (instance,) = files([path])
    assert instance.name == "recorded recorded"
    assert instance.has_equal_devices
    assert len(instance.speeds) == 4
    assert instance.replayed([0, 0], [0, 1]) == pytest.approx(3 + 1)
    assert instance.replayed([0, 3], [0, 1]) == pytest.approx(3 + 1 + 1)  # 1 Gbit at 1 Gbit/s


def test_a_missing_interpreter_is_one_line() -> None:
    with (
        pytest.raises(SystemExit, match="/none/python: No such file or directory"),
        Library("SAGA", "on_saga", "/none/python"),
    ):
        pass


def test_a_library_that_is_not_named_is_skipped() -> None:
    command = [sys.executable, "-m", "benchmarks.schedulers"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == [
        "SAGA: skipped, as --saga names no interpreter",
        "Estee: skipped, as --estee names no interpreter",
    ]


@needs_saga
def test_saga_and_our_simulator_agree() -> None:
    with Library("SAGA", "on_saga", os.environ[INTERPRETER]) as saga:
        assert saga.replay(DIAMOND, SPLIT, [0, 1, 2, 3]) == pytest.approx(SPLIT_S)
        made = saga.schedule("HeftScheduler", DIAMOND)
        listed = by_start(DIAMOND.problem(), made.start)
        assert DIAMOND.replayed(made.devices, listed) == pytest.approx(made.makespan)
        with pytest.raises(FailedError, match="AttributeError"):
            saga.schedule("NoScheduler", DIAMOND)
        assert saga.graphs(1, 0) == saga.graphs(1, 0) != saga.graphs(1, 1)


@needs_saga
def test_auto_is_compared_with_every_scheduler_of_saga() -> None:
    with Library("SAGA", "on_saga", os.environ[INTERPRETER]) as saga:
        found = list(compared(saga, DIAMOND, 0.05, 5.0))
        names = set(saga.names)
    rows = {each.scheduler: each for each in found if isinstance(each, Row)}
    failed = {each.scheduler for each in found if isinstance(each, Failure)}
    assert set(rows) - {ALL} | failed == names
    assert {"HeftScheduler", "CpopScheduler"} <= set(rows)
    assert rows[ALL].theirs == min(row.theirs for row in rows.values())
    assert all(row.auto.theirs == pytest.approx(row.auto.ours) for row in rows.values())
