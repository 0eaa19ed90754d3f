"""Rivals at real sizes: their placements are feasible, and worth what is stored."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks import learned_collapsing
from benchmarks.real_sizes.problems import Recipe
from benchmarks.real_sizes.rivals import ladder, metis, outcome, rivals, subset
from benchmarks.reference import oracle
from streamplace import Cluster, Problem
from streamplace.errors import UsageError
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.placers.limits import MaxEvaluations, MaxRuntime
from streamplace.scoring.flow import flow
from streamplace.sim import work_clock
from streamplace.util.arrays import Ints

PROBLEM = Recipe("layered", 50, 7, "nic", 3.0, 1.1, False, 1).problem()
PASS = Recipe("layered", 50, 5, "pair", 1.0, 1.0, False, 1, batch=1_000).problem()
PLACERS = "auto", "multilevel-subsets", "search-subsets", "metis-subsets"


@pytest.mark.parametrize("name", [*rivals(), *PLACERS])
def test_a_value_is_the_utilisation_of_a_feasible_placement(name: str) -> None:
    found = outcome(PROBLEM, name, MaxRuntime(0.02), 0)
    assert found.devices.shape == (50,)
    assert PROBLEM.feasibility.violation(found.devices) is None
    throughput = float(oracle.bottleneck(PROBLEM, found.devices.tolist()))
    assert PROBLEM.source_rate / found.value == pytest.approx(throughput)
    assert found.least <= found.value


@pytest.mark.parametrize("name", ["auto", "heft-subsets", "peft:links-subsets", "cpop-subsets"])
def test_a_makespan_is_that_of_the_placement(name: str) -> None:
    found = outcome(PASS, name, MaxRuntime(0.02), 0)
    makespan = MakespanEvaluator(PASS).makespans(found.devices)[0]
    assert found.value == pytest.approx(makespan)
    alone = outcome(PASS, name.removesuffix("-subsets"), MaxRuntime(0.02), 0)
    assert name == "auto" or found.value <= alone.value


def test_what_ends_too_late_counts_only_if_it_is_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on_one, spread = np.zeros(50, np.int32), (np.arange(50) % 7).astype(np.int32)
    seconds = 0.0

    def tries(problem: Problem, seed: int) -> Iterator[Ints]:
        nonlocal seconds
        seconds = 1.0
        yield on_one
        seconds = 5.0
        yield spread

    monkeypatch.setattr(work_clock, "now", lambda: seconds)
    monkeypatch.setattr("benchmarks.real_sizes.rivals.rivals", lambda: {"tries": tries})
    for limit, devices, cpu_s in ((2.0, on_one, 1.0), (0.5, on_one, 1.0), (4.5, spread, 5.0)):
        seconds = 0.0
        found = outcome(PROBLEM, "tries", MaxRuntime(limit), 0)
        assert (found.devices == devices).all()
        assert found.cpu_s == cpu_s


def test_evaluations_limit_every_subset() -> None:
    whole, parts = (
        outcome(PROBLEM, name, MaxEvaluations(600), 0) for name in ("search", "search-subsets")
    )
    assert whole.value > 0
    assert parts.value <= max(
        outcome(few, "search", MaxEvaluations(100), 0).value
        for few in [subset(PROBLEM, k)[1] for k in ladder(PROBLEM)]
    )
    with pytest.raises(UsageError, match="does not accept"):
        outcome(PROBLEM, "greedy", MaxEvaluations(10), 0)


def test_the_ladder_ends_with_all_devices() -> None:
    assert ladder(PROBLEM) == [1, 2, 3, 4, 6, 7]


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_parts_go_to_the_fastest_devices_and_the_heaviest_to_the_fastest(parts: int) -> None:
    devices = metis(PROBLEM, parts, 0.1, 0, recursive=True)
    fastest = PROBLEM.cluster.fastest_first[:parts]
    assert set(devices.tolist()) <= set(fastest.tolist())
    weights = np.bincount(devices, weights=flow(PROBLEM).work, minlength=7)[fastest]
    assert (np.diff(weights) <= 1e-9 * weights.max()).all()


def test_a_placement_on_a_subset_has_the_same_value_on_all_devices() -> None:
    on, few = subset(PROBLEM, 3)
    devices = np.arange(50, dtype=np.int32) % 3
    assert oracle.bottleneck(few, devices.tolist()) == oracle.bottleneck(
        PROBLEM, on[devices].tolist()
    )


def test_the_ends_of_the_best_streams_are_collapsed_until_few_groups_are_left() -> None:
    few = subset(PROBLEM, 3)[1]
    scores = np.random.default_rng(0).random(len(flow(few).source))
    units = learned_collapsing.collapsed(few, scores).feasibility
    assert units.unit_count == learned_collapsing.GROUPS * 3
    most = learned_collapsing.HEAVIEST * flow(few).work.sum() / 3
    groups = np.bincount(units.unit_of, flow(few).work)
    assert (groups[np.bincount(units.unit_of) > 1] <= most).all()
    best = scores.argmax()
    assert units.unit_of[flow(few).source[best]] == units.unit_of[flow(few).target[best]]


def test_scores_of_streams_do_not_depend_on_the_order_of_devices() -> None:
    cluster = PROBLEM.cluster
    other = Cluster(cluster.devices[::-1], cluster.network)
    turned = Problem(PROBLEM.graph, other, objective=PROBLEM.objective)
    network = learned_collapsing.Network()
    network.fit_scale([learned_collapsing.features(PROBLEM)])
    assert network.of(PROBLEM) == pytest.approx(network.of(turned), abs=1e-4)


def test_learned_collapsing_runs_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = {"QUICK_S": 0.01, "LABEL_S": 0.02, "TOTAL_S": 0.03, "REWARD_S": 0.01}
    others = {"LATE": np.inf, "LARGE": [50], "EPOCHS": 1, "BINDING": 0.0}
    for name, value in {**seconds, **others}.items():
        monkeypatch.setattr(learned_collapsing, name, value)
    counts = ["--training", "1", "--rewarded", "1", "--tests", "2", "--controls", "1"]
    monkeypatch.setattr(sys, "argv", ["", "-o", str(tmp_path), *counts])
    learned_collapsing.main()
    results = (tmp_path / "results.jsonl").read_text()
    assert len(results.splitlines()) == 2 * 3 + 4
    first = capsys.readouterr().out.splitlines()[-7:]
    assert first[0].startswith("| auto | 2 | 1.0000 | 0.0% | 0.0% |")
    learned_collapsing.main()
    assert (tmp_path / "results.jsonl").read_text() == results
    assert capsys.readouterr().out.splitlines()[-7:] == first
