"""Tests for the study of DOPPLER: its units, checkpoints, and a run that is continued."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.studies_again import FOLDERS, kept_in
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.doppler.study.registered import (
    DOPPLER,
    FULL,
    FURTHER,
    ONLY_ON,
    PLACETO,
    PLACETO_LONGER,
    PRETRAINED,
    PUBLISHED_SETTINGS,
    SYSTEMS,
    UNIFORM,
    Registered,
)
from streamplace.papers.doppler.study.staged import Contended
from streamplace.papers.doppler.study.study import DopplerStudy
from streamplace.papers.doppler.study.systems import (
    ENUMERATIVE,
    IMITATION,
    ONE_DEVICE,
    PLAIN,
    SIMULATION,
    ZERO_SHOT,
    placeto_rows,
)
from streamplace.papers.doppler.study.workloads import ALIKE
from streamplace.papers.studies.run import RESULTS, run_study
from streamplace.papers.studies.workloads import LONG_SEARCH
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem
from tests.support.cli import Capture, refused
from tests.support.studies import unit_of, without_times

TINY = Registered(
    graphs=("chain-mm",),
    devices=(2, 3),
    seeds=1,
    imitation_epochs=2,
    imitation_samples=2,
    search_epochs=2,
    simulation_epochs=3,
    simulation_samples=4,
    larger_samples=2,
    released_imitation_epochs=2,
    released_simulation_epochs=2,
    every_step_epochs=1,
    transfer_epochs=2,
    paper_imitation_epochs=1,
    paper_simulation_epochs=1,
    longer_sweeps=2,
    measurements=4,
    every=8,
    repeats=2,
)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> DopplerStudy:
    monkeypatch.setattr("streamplace.papers.doppler.study.study.QUICK", TINY)
    return DopplerStudy(quick=True, seed=3)


def test_units_have_distinct_names_and_every_workload_has_doppler_and_plain_placers() -> None:
    study = DopplerStudy()
    units = study.plan().units
    keys = [unit.key for unit in units]
    assert len({*keys}) == len(keys)
    trained = [unit.settings for unit in units if "system" in unit.settings]
    for workload in study.workloads:
        on_it = [s["system"] for s in trained if asdict(workload).items() <= s.items()]
        assert on_it.count(DOPPLER) == FULL.seeds
        assert f"plain placers: {workload.name}" in keys
        is_first = workload.devices == 4 and not (workload.limited or workload.variant)
        expected = {*SYSTEMS, *FURTHER} if is_first else {DOPPLER, PLACETO}
        expected |= {UNIFORM} if (workload.source, workload.graph) != ALIKE else set()
        left_out = {s for s, graphs in ONLY_ON.items() if workload.graph not in graphs}
        assert {*on_it} == expected - left_out


def test_results_that_were_recorded_before_units_were_added_stay_valid() -> None:
    keys = {unit.key for unit in DopplerStudy().plan().units}
    recorded = {key for key in kept_in(FOLDERS / "doppler") if "released" not in key}
    assert "Placeto: own ffnn on 4 devices, seed 2" in recorded
    assert recorded <= keys


def test_messages_of_the_stand_in_wait_for_each_other() -> None:
    """An operator takes 1 s and a message 8 s; both go to the other device at once."""
    graph = StreamGraph.from_columns(["a", "b", "c"], [1e6] * 3, [1e6] * 3, [(0, 1), (0, 2)])
    network = Network("free", bandwidth_mbps=1.0, latency_s=0.0)
    cluster = Cluster([Device(name, 1.0) for name in "xy"], network)
    problem = Problem(graph, cluster, objective=Makespan())
    rows = np.array([[0, 0, 0], [0, 1, 1]], np.int32)
    assert makespan_evaluator(problem).makespans(rows).tolist() == pytest.approx([3.0, 11.0])
    assert Contended()(problem, rows).tolist() == pytest.approx([3.0, 18.0])


def test_combinations_of_stages(tiny: DopplerStudy) -> None:
    found = {}
    for system in ("stages 1", "stages 1 and 3", "stages 3"):
        (found[system],) = tiny.run(unit_of(tiny, f"{system}: own chain-mm on 2 devices, seed 0"))
    for system in ("stages 3", "stages 1 and 3"):
        assert found[system]["evaluations"] == TINY.measurements == 4
    assert found["stages 1"]["evaluations"] == 0


@pytest.mark.long
def test_training_repeats(tiny: DopplerStudy) -> None:
    unit = unit_of(tiny, "DOPPLER: own chain-mm on 2 devices, seed 0")
    assert without_times(tiny.run(unit)) == without_times(tiny.run(unit))


def test_training_has_rows_at_checkpoints(tiny: DopplerStudy) -> None:
    rows = tiny.run(unit_of(tiny, "DOPPLER: own chain-mm on 2 devices, seed 0"))
    own = [row for row in rows if "trained_on" not in row]
    assert [(row["stage"], row["episodes"]) for row in own] == [
        (IMITATION, 0),
        (SIMULATION, 8),
        (SIMULATION, 12),
    ]
    assert [row["evaluations"] for row in own] == [1, 10, 15]  # one greedy one at each checkpoint
    best = [row["best_s"] for row in own]
    assert best == sorted(best, reverse=True)
    assert all(row["best_s"] <= row["greedy_s"] for row in own)
    assert [row["barrier_s"] is None for row in own] == [False, True, False]
    assert all(row["barrier_s"] >= row["best_s"] for row in (own[0], own[-1]))
    moved = [row for row in rows if "trained_on" in row]
    assert [(row["stage"], row["devices"], row["episodes"]) for row in moved] == [
        (ZERO_SHOT, 3, 0),
        (SIMULATION, 3, 4),
    ]
    assert moved[0]["trained_on"]["devices"] == 2
    assert [row["evaluations"] for row in moved] == [9, 14]
    assert moved[1]["best_s"] <= moved[0]["best_s"] <= moved[0]["greedy_s"]


@pytest.mark.parametrize("limited", [False, True])
def test_plain_placers_start_from_one_critical_path(tiny: DopplerStudy, limited: bool) -> None:
    limit = " with little memory" if limited else ""
    rows = tiny.run(unit_of(tiny, f"plain placers: own chain-mm on 2 devices{limit}"))
    assert {row["system"] for row in rows} == {*PLAIN}
    by_system = {row["system"]: row for row in rows if row["repeat"] == 1}
    problem = next(one for one in tiny.workloads if one.limited == limited).problem()
    single = makespan_evaluator(problem).makespans(np.zeros(len(problem.graph.names), np.int32))
    alone = next(row for row in rows if row["system"] == ONE_DEVICE)
    assert alone["best_s"] == (None if limited else single[0])
    start = by_system["critical path"]["best_s"]
    assert by_system[LONG_SEARCH]["best_s"] <= by_system["search"]["best_s"] <= start
    assert by_system["climb"]["best_s"] <= start
    assert TINY.evaluations(2) == 12
    assert max(row["evaluations"] for row in rows if row["system"] == "climb") <= 12


@pytest.mark.parametrize("system", [PLACETO, PRETRAINED])
def test_placeto_makes_as_many_evaluations_in_whole_sweeps(tiny: DopplerStudy, system: str) -> None:
    more = replace(TINY, simulation_samples=20, every=20)
    problem = tiny.workloads[0].problem()
    rows = list(placeto_rows(system, problem, more, seed=0))
    operators = len(problem.graph.names)
    assert rows[-1]["episodes"] == 60 // operators * operators
    best = [row["best_s"] for row in rows]
    assert best == sorted(best, reverse=True)


@pytest.mark.long
def test_a_run_that_was_killed_continues_to_the_same_outcome(
    tiny: DopplerStudy, tmp_path: Path
) -> None:
    whole = run_study(tiny, tmp_path / "a", jobs=1)
    results = tmp_path / "a" / RESULTS
    lines = results.read_bytes().splitlines(keepends=True)
    results.write_bytes(b"".join(lines[:-2]) + lines[-2][:40])
    again = run_study(tiny, tmp_path / "a", jobs=1)
    assert again.findings == whole.findings
    assert (tmp_path / "a" / "curves.png").read_bytes().startswith(b"\x89PNG")

    def figures(found: Any) -> Any:  # CPU seconds are those of the run
        return [table for table in found.to_dict()["tables"] if "makespans" not in table["name"]]

    assert figures(again) == figures(whole)
    names = [table.name for table in whole.tables]
    assert names == [
        "makespans-own-2",
        "makespans-own-3",
        "makespans-own-3-meshes",
        "ablations-own",
        "checkpoints",
        "transfer",
        "memory",
        "memory-scarce",
        "barrier",
        "stages",
    ]
    for table in whole.tables:
        assert all(len(cells) == len(table.head) - 1 for _, cells in table.rows)
    made = dict(whole.tables[0].rows)
    assert {*PLAIN, *SYSTEMS, PUBLISHED_SETTINGS, PLACETO_LONGER, UNIFORM} == {*made}
    assert {PLACETO, ENUMERATIVE} <= {*made}


def test_a_missing_released_folder_is_named(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "file").touch()
    for name, fault in (("absent", "no such folder"), ("file", "is not a folder")):
        folder = tmp_path / name
        line = refused(capsys, "study", "doppler", "--released", folder, "-o", tmp_path / "s")
        assert f"{folder}: {fault}; --released needs the graphs" in line


def test_quick_has_no_released_graphs(tmp_path: Path, capsys: Capture) -> None:
    line = refused(capsys, "study", "doppler", "--quick", "--released", "x", "-o", tmp_path)
    assert "cannot combine --released with --quick" in line
