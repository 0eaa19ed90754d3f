"""Tests for the study of HSDAG: its plan, its units, and a run that is continued."""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.studies_again import FOLDERS, kept_in
from streamplace.learning.policy.weights import new_policy
from streamplace.learning.training.in_memory import fit
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.hsdag.features import encode
from streamplace.papers.hsdag.placer import HsdagPlacer
from streamplace.papers.hsdag.sizes import HsdagSizes
from streamplace.papers.hsdag.study.registered import (
    ABLATIONS,
    ACCELERATOR_ONLY,
    CPU_ONLY,
    FEATURES,
    FILES,
    FULL,
    HEAVY_GROUPS,
    HSDAG,
    LONGER_ON,
    OWN,
    PLACETO_LONGER,
    QUICK,
    UNTRAINED,
    network_problem,
    released_workloads,
)
from streamplace.papers.hsdag.study.study import HsdagStudy
from streamplace.papers.hsdag.study.systems import (
    FIXED,
    ON_GROUPS,
    OTHERS,
    PLAIN,
    RANDOM_GROUPS,
    SEARCH,
    SEARCH_GROUPS,
    SEARCHES,
    alone,
    heavy_edge_groups,
    on_groups,
    trained,
)
from streamplace.papers.studies.run import RESULTS, run_study
from streamplace.papers.studies.workloads import LONG_SEARCH
from streamplace.problem.grouping import Grouping
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats
from tests.support.cli import Capture, refused
from tests.support.hsdag import pass_problem
from tests.support.released_data import SHARED
from tests.support.studies import unit_of, without_times

TINY = replace(QUICK, seeds=2, episodes=2, samples=2, steps=2, rnn_samples=4, longer=4)


KINDS = ("cpu", "accelerator")
NOTHING = 1e-15  # to which parameters that begin at 0 may go


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> HsdagStudy:
    monkeypatch.setattr("streamplace.papers.hsdag.study.study.QUICK", TINY)
    return HsdagStudy(quick=True, seed=3)


def test_units_have_distinct_names_and_every_workload_has_all_systems() -> None:
    study = HsdagStudy()
    units = study.plan().units
    keys = [unit.key for unit in units]
    assert len({*keys}) == len(keys)
    assert len(study.workloads) == len(FULL.networks)
    policies = [unit.settings for unit in units if "system" in unit.settings]
    for workload in study.workloads:
        on_it = [s["system"] for s in policies if workload.settings.items() <= s.items()]
        assert f"plain placers: {workload.name}" in keys
        expected = {HSDAG, *FIXED, *OTHERS, *ABLATIONS}
        if workload.graph not in LONGER_ON:
            expected -= {PLACETO_LONGER}
        assert {*on_it} == expected
        assert on_it.count(HSDAG) == FULL.seeds


def test_the_full_plan_has_the_published_episodes() -> None:
    assert (FULL.episodes * FULL.samples, FULL.steps) == (100, 20)
    assert FULL.evaluations == 2100  # an episode's start is one, too


def test_results_that_were_recorded_before_units_were_added_stay_valid() -> None:
    keys = {unit.key for unit in HsdagStudy().plan().units}
    recorded = {key for key in kept_in(FOLDERS / "hsdag") if ", ratios x " in key}
    assert len(recorded) > 30
    assert recorded <= keys


def test_ablations_leave_out_one_part_each() -> None:
    left_out = {
        name: {*FEATURES} - {*variant.sizes["features"]}
        for name, variant in ABLATIONS.items()
        if "features" in variant.sizes and "shape" not in variant.sizes["features"]
    }
    assert left_out == {
        "without sizes": {"size"},
        "without positions": {"position"},
        "without structure": {"degree", "fractal"},
    }


@pytest.mark.parametrize("system", [HSDAG, HEAVY_GROUPS, "training of the paper"])
def test_a_training_has_a_row(system: str) -> None:
    problem = pass_problem(16)
    row, grouping = trained(system, problem, TINY, seed=1)
    shortest_alone = min(s for s in alone(problem).values() if s is not None)
    assert row["best_s"] <= shortest_alone * (1 + 1e-9)  # both are sums, in orders of their own
    assert row["best_s"] <= row["own_s"]
    assert row["lowest_s"] == sorted(row["lowest_s"], reverse=True)
    assert row["lowest_s"][-1] == row["best_s"]
    of_paper = system == "training of the paper"  # 100 episodes, one an update
    assert len(row["lowest_s"]) == len(row["means_s"]) == (100 if of_paper else TINY.episodes)
    assert min(row["means_s"]) >= row["own_s"] * (1 - 1e-9)
    assert row["evaluations"] == (300 if of_paper else TINY.evaluations)
    assert grouping is not None
    assert row["groups"] == grouping.count


def test_the_best_groups_are_those_of_the_shortest_placement() -> None:
    """The makespan of the row is that of a placement which keeps these groups together."""
    problem = pass_problem(12)
    row, grouping = trained(HSDAG, problem, TINY, seed=2)
    assert grouping is not None
    makespans = _all_makespans(problem, grouping)
    assert np.isclose(makespans, row["own_s"], rtol=1e-9).any()


def _all_makespans(problem: Problem, grouping: Grouping) -> Floats:
    """Return the makespans of all placements of groups on two devices."""
    bits = np.arange(2**grouping.count)[:, None] >> np.arange(grouping.count) & 1
    return makespan_evaluator(problem).makespans(bits.astype(np.int32)[:, grouping.group_of])


def test_training_repeats_and_seeds_differ() -> None:
    problem = pass_problem(16)
    first, again, other = (trained(HSDAG, problem, TINY, seed)[0] for seed in (1, 1, 2))
    assert without_times([first]) == without_times([again])
    assert first["own_s"] != other["own_s"]


def test_without_learning_parameters_stay() -> None:
    problem = pass_problem(16)
    for rate, stays in ((ABLATIONS[UNTRAINED].options["rate"], True), (1e-3, False)):
        placer = HsdagPlacer(episodes=2, samples=2, steps=2, rate=rate)
        policy = new_policy(placer.section(problem), 0)
        before = deepcopy(policy.state_dict())
        fit(policy, [problem], [placer.stage(problem)], np.random.default_rng(0))
        after = policy.state_dict()
        change = max(float((after[name] - value).abs().max()) for name, value in before.items())
        assert (change < NOTHING) == stays


def test_groups_of_the_policy_are_the_fixed_ones() -> None:
    problem = network_problem("resnet50")
    _, grouping = trained(HEAVY_GROUPS, problem, TINY, seed=0)
    one = encode(problem, HsdagSizes())
    assert grouping is not None
    assert np.array_equal(grouping.group_of, heavy_edge_groups(one)[one.grouping.group_of])


def test_single_devices_by_kind() -> None:
    problem = network_problem("resnet50")
    found = alone(problem)
    times = problem.graph.seconds_on.values()
    work = [sum(one[kind] or 0.0 for one in times) for kind in KINDS]
    assert [found[CPU_ONLY], found[ACCELERATOR_ONLY]] == pytest.approx(work)


def _planted() -> tuple[Problem, Grouping]:
    problem = network_problem("resnet50")
    return problem, Grouping(problem.graph, np.arange(174, dtype=np.int32) * 12 // 174)


def test_searches_on_groups_find_what_all_placements_of_groups_have_at_best() -> None:
    problem, grouping = _planted()
    every = _all_makespans(problem, grouping)
    rows = {row["system"]: row for row in on_groups(problem, grouping, FULL, (0, 0))}
    assert {*rows} == {*ON_GROUPS}
    assert rows[SEARCH_GROUPS]["best_s"] == pytest.approx(every.min())
    assert rows[RANDOM_GROUPS]["best_s"] >= every.min() * (1 - 1e-9)
    assert rows[RANDOM_GROUPS]["evaluations"] == FULL.evaluations


def test_plain_placers(tiny: HsdagStudy) -> None:
    rows = tiny.run(unit_of(tiny, "plain placers: resnet50"))
    assert {row["system"] for row in rows} == {*PLAIN, *SEARCHES}
    by_system = {row["system"]: row for row in rows if row["repeat"] == 0}
    single = by_system[ACCELERATOR_ONLY]["best_s"]
    assert by_system[LONG_SEARCH]["best_s"] <= single
    assert by_system[SEARCH]["best_s"] <= single
    counts = [row["evaluations"] for row in rows if row["system"] == "climb"]
    assert len(counts) == TINY.seeds
    assert max(counts) <= TINY.evaluations


@pytest.mark.long
def test_a_run_that_was_killed_continues_to_the_same_outcome(
    tiny: HsdagStudy, tmp_path: Path
) -> None:
    whole = run_study(tiny, tmp_path / "a", jobs=1)
    results = tmp_path / "a" / RESULTS
    lines = results.read_bytes().splitlines(keepends=True)
    results.write_bytes(b"".join(lines[:-2]) + lines[-2][:40])
    again = run_study(tiny, tmp_path / "a", jobs=1)
    assert again.findings == whole.findings
    assert (tmp_path / "a" / "curves.png").read_bytes().startswith(b"\x89PNG")

    def figures(found: Any) -> Any:  # CPU seconds are those of the run
        tables = found.to_dict()["tables"]
        return [table for table in tables if table["name"] in ("rivals", "ablation", "groups")]

    assert figures(again) == figures(whole)
    for table in whole.tables:
        assert all(len(cells) == len(table.head) - 1 for _, cells in table.rows)


@pytest.mark.long
@pytest.mark.skipif(not SHARED.exists(), reason="released graphs are not in ../shared")
def test_released_graphs_are_read() -> None:
    problems = [one.problem(str(SHARED)) for one in released_workloads()]
    assert [len(problem.cluster.devices) for problem in problems] == [7] * 6 + [6] * 2
    units = HsdagStudy(data=str(SHARED)).plan().units
    large = [unit for unit in units if unit.settings["graph"] == "bert_l_12_training"]
    assert {unit.settings.get("system") for unit in large} == {None, HSDAG, *FIXED}
    assert all(unit.settings["scale"] == 1.0 for unit in units if unit.settings["source"] != OWN)


def test_missing_released_files_are_named(tmp_path: Path, capsys: Capture) -> None:
    line = refused(capsys, "study", "hsdag", "--data", tmp_path, "-o", tmp_path / "s")
    assert f"has no {FILES['layer-gnmt_training'][1]}, " in line
    assert "--data needs the graphs" in line
    assert not (tmp_path / "s").exists()


def test_data_must_be_a_folder(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "file").touch()
    for name, fault in (("file", "is not a folder"), ("none", "no such folder")):
        line = refused(capsys, "study", "hsdag", "--data", tmp_path / name, "-o", tmp_path / "s")
        assert f"{name}: {fault}; --data needs the graphs" in line


def test_quick_has_no_released_graphs(tmp_path: Path, capsys: Capture) -> None:
    line = refused(capsys, "study", "hsdag", "--quick", "--data", "x", "-o", tmp_path)
    assert "cannot combine --data with --quick" in line
