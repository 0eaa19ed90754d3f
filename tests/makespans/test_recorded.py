"""Recorded runs: workflow managers by hand, fits on other runs only, and shares that add up."""

import json
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streamplace as sp
from benchmarks.makespans import recorded
from benchmarks.makespans.recorded import equal, fitted, shares_of, with_interval
from benchmarks.makespans.recorded_runs import MANAGERS, Manager, Run, managed, read
from streamplace.util.arrays import Floats

MANAGER = Manager(2.0, 7.5, 1000.0)


def workflow(
    seconds: Sequence[float], parents: Sequence[Sequence[int]], measured_s: float, cpu: float = 100
) -> dict[str, Any]:
    """Return a run on one machine of two cores; each task writes a file of 125 MB."""
    children = [[v for v, above in enumerate(parents) if u in above] for u in range(len(seconds))]
    specified = [
        {
            "id": f"t{v}",
            "parents": [f"t{u}" for u in parents[v]],
            "children": [f"t{u}" for u in children[v]],
            "inputFiles": [f"f{u}" for u in parents[v]],
            "outputFiles": [f"f{v}"],
        }
        for v in range(len(seconds))
    ]
    executed = [
        {"id": f"t{v}", "runtimeInSeconds": time, "avgCPU": cpu, "machines": ["m"]}
        for v, time in enumerate(seconds)
    ]
    files = [{"id": f"f{v}", "sizeInBytes": 125_000_000} for v in range(len(seconds))]
    return {
        "name": "w",
        "schemaVersion": "1.5",
        "runtimeSystem": {"name": "Manager"},
        "workflow": {
            "specification": {"tasks": specified, "files": files},
            "execution": {
                "makespanInSeconds": measured_s,
                "tasks": executed,
                "machines": [{"nodeName": "m", "cpu": {"coreCount": 2}}],
            },
        },
    }


def written(folder: Path, name: str, value: object) -> Path:
    path = folder / name
    path.write_text(json.dumps(value))
    return path


def run_with(measured_s: float, managed_s: Floats, application: str = "a") -> Run:
    shortest = float(managed_s[0])
    return Run(
        system="Manager",
        application=application,
        is_placed=True,
        tasks=4,
        levels=2,
        run_times_s=10.0,
        file_bytes=0.0,
        whole_s=0.0,
        measured_s=measured_s,
        path_s=0.5 * shortest,
        free_s=shortest,
        linked_s=shortest,
        used_s=shortest,
        serial_s=2.0 * shortest,
        managed_s=managed_s,
        bound_s=shortest,
        auto_s=shortest,
    )


def test_manager_starts_one_task_at_a_time() -> None:
    names = ["a", "b", "c"]
    graph = sp.StreamGraph(
        [sp.Operator(name, 1.0, 0.0, seconds_on={"k": 10.0}) for name in names],
        [sp.Stream("a", "b"), sp.Stream("a", "c")],
        firing="all",
    )
    machines = (sp.Device("m", 1.0, cores=2, kind="k"),)
    size_bytes = {"a": 125e6, "b": 125e6, "c": 0.0}
    found = managed(graph, machines, dict.fromkeys(names, "m"), size_bytes)
    assert found[MANAGERS.index(Manager(0.0, 0.0, inf))] == 20.0
    # a: 2 s and 1 s for its file, dispatched in 7.5 s, runs for 10 s: 20.5; its end is known at 28;
    # b occupies the manager until 31, c until 33; c then starts at 40.5, or b and c the other way
    assert found[MANAGERS.index(MANAGER)] == pytest.approx(50.5)


def test_simulations_of_a_run(tmp_path: Path) -> None:
    value = workflow([1.5, 4, 4, 4, 1], [[], [0], [0], [0], [1, 2, 3]], 30.0, cpu=150)
    run = read(written(tmp_path, "x__job-1.json", value), 0.01)
    assert (run.system, run.application, run.is_placed) == ("Manager", "job", True)
    assert (run.tasks, run.levels, run.run_times_s, run.whole_s) == (5, 3, 14.5, 4.0)
    assert (run.path_s, run.free_s, run.linked_s) == (6.5, 10.5, 10.5)
    assert run.used_s == run.serial_s == 14.5  # each task fills both cores
    assert run.file_bytes == 11 * 125e6
    assert run.auto_s is None


def test_fit_uses_other_runs_only() -> None:
    rng = np.random.default_rng(0)
    count, true = 6, MANAGERS.index(MANAGER)
    makespans = rng.uniform(10.0, 100.0, (count, len(MANAGERS)))
    settings = np.ones(len(MANAGERS), np.bool_)
    names = ["a", "a", "b", "c", "d", "e"]
    runs = [run_with(row[true], row, name) for row, name in zip(makespans, names, strict=True)]
    others = ~equal(runs, lambda run: run.application)
    assert fitted(runs, settings, others).tolist() == makespans[:, true].tolist()
    # The measured makespans of an application do not count for its own fit.
    strange = [run_with(1e6, runs[0].managed_s), run_with(1e-6, runs[1].managed_s), *runs[2:]]
    found = fitted(strange, settings, others)
    assert found[:2].tolist() == makespans[:2, true].tolist()
    assert found[2:].tolist() != makespans[2:, true].tolist()
    allowed = np.array([manager.notice_s == 0 for manager in MANAGERS])
    assert set(fitted(runs, allowed, others)) <= set(makespans[:, allowed].ravel())
    nothing = fitted(runs, settings, np.zeros_like(others))
    assert nothing.tolist() == makespans[:, 0].tolist()


@pytest.mark.parametrize("measured_s", [3.0, 10.0, 12.0, 500.0])
def test_shares_add_up(measured_s: float) -> None:
    run = run_with(measured_s, 10.0 + np.arange(len(MANAGERS), dtype=np.float64))
    shares = shares_of(run)
    assert (shares >= 0.0).all()
    assert shares.sum() == pytest.approx(1.0)
    assert shares[0] == min(5.0, measured_s) / measured_s
    assert (shares[-1] > 0) == (measured_s > run.managed_s[recorded.STAGING])


def test_intervals_resample_applications() -> None:
    runs = [run_with(1.0, np.ones(1), name) for name in "aaaaab"]
    assert with_interval(runs, lambda rows: float(rows.mean())) == "2.500"  # two applications
    runs += [run_with(1.0, np.ones(1), "c")]
    # A resample can have the five runs of `a` alone, or the one of `c` alone.
    assert with_interval(runs, lambda rows: float((rows < 5).mean())) == "0.714 [0.000, 1.000]"
    assert with_interval([], lambda _: 0.0) == "-"


def test_main(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("x__a-1.json", "x__a-2.json", "x__b-1.json", "x__c-1.json")
    for number, name in enumerate(names, start=1):
        seconds = [4.0] * (number + 1)
        written(tmp_path, name, workflow(seconds, [[], *[[0]] * number], 9.0 * number))
    written(tmp_path, "y.json", {"workflow": []})
    monkeypatch.setattr("sys.argv", ["recorded", str(tmp_path), "--seconds", "0.01"])
    recorded.main()
    out, err = capsys.readouterr()
    assert err.count("left out: ") == 1
    assert "y.json" in err
    assert [line[0] for line in out.splitlines() if line[1:3] == ". "] == list("12345")
    rows = {line[:28].strip(): line[28:].split() for line in out.splitlines()}
    assert rows["all three; its application"][0] == "2"
    assert rows["Manager, a"][0] == "2"


def test_main_without_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["recorded", str(tmp_path)])
    with pytest.raises(SystemExit, match="has no run that can be simulated"):
        recorded.main()
