"""Methods of DOPPLER's third stage: workloads, fused ones, and the table."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.testbed.passes.problems import WORK_S
from benchmarks.testbed.passes.suitability import suitable
from benchmarks.testbed.passes.third_stage.budget import Budget
from benchmarks.testbed.passes.third_stage.fusing import fused
from benchmarks.testbed.passes.third_stage.methods import climbed, doppler, interleaved, searched
from benchmarks.testbed.passes.third_stage.table import change, is_lower, lines
from benchmarks.testbed.passes.third_stage.workloads import FAMILIES, compressed, workloads
from streamplace import Problem, Recipe, StreamGraph
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats, Ints
from tests.support.measures import modelled_s
from tests.support.passes import small_problem

BUDGET = Budget(passes=60, repeats=2, epochs=1)


class Counting:
    """A meter that computes times and counts the passes of each placement."""

    def __init__(self) -> None:
        self.rows: list[bytes] = []

    def __call__(self, placements: Ints) -> Floats:
        """Return the seconds of one pass of each placement."""
        self.rows += [np.asarray(row, np.int32).tobytes() for row in placements]
        return modelled_s(np.asarray(placements))


@pytest.fixture
def problem() -> Problem:
    """Return a problem of six operators on three devices."""
    return small_problem()


def test_a_climb_uses_its_budget_and_never_gets_worse(problem: Problem) -> None:
    meter, start = Counting(), np.full(6, 2, np.int32)
    best = climbed(problem, meter, start, BUDGET, seed=0)
    assert len(meter.rows) == BUDGET.passes
    assert len(set(meter.rows)) == BUDGET.placements
    assert modelled_s(best[None])[0] == min(
        modelled_s(np.frombuffer(row, np.int32)[None])[0] for row in meter.rows
    )
    assert modelled_s(best[None])[0] < modelled_s(start[None])[0]


def test_a_climb_goes_on_where_all_neighbours_are_measured(problem: Problem) -> None:
    """Everything on device 0 is fastest and has twelve neighbours."""
    meter = Counting()
    best = climbed(problem, meter, np.zeros(6, np.int32), Budget(80, 2, 1), seed=0)
    assert not best.any()
    assert len(set(meter.rows)) == 40


@pytest.mark.long
def test_the_third_stage_begins_with_the_best_of_the_second(problem: Problem) -> None:
    meter = Counting()
    second, third = doppler(problem, meter, BUDGET, seed=0)
    assert meter.rows[0] == second.tobytes()
    assert len(meter.rows) <= BUDGET.passes
    assert modelled_s(third[None])[0] == min(
        modelled_s(np.frombuffer(row, np.int32)[None])[0] for row in meter.rows
    )


def test_the_search_knows_only_the_simulator(problem: Problem) -> None:
    best = searched(problem, seed=0)
    others = np.random.default_rng(0).integers(3, size=(50, 6)).astype(np.int32)
    score = evaluator(problem)
    assert score.loss(best[None])[0] <= score.loss(others).min()


def test_equal_placements_share_their_passes() -> None:
    meter = Counting()
    rows = np.array([[0, 1], [1, 1], [0, 1]], np.int32)
    seconds = interleaved(meter, rows, 4, seed=0)
    assert seconds.shape == (3, 4)
    assert (seconds == modelled_s(rows)[:, None]).all()
    assert len(meter.rows) == 2 * 4
    assert len(set(meter.rows[:2])) == len(set(meter.rows[2:4])) == 2


def test_workloads_are_small_and_suit_the_testbed() -> None:
    found = list(workloads(4, seed=0))
    assert [problem.graph.name for problem in found] == list(FAMILIES)
    for problem in found:
        suitable(problem)
        assert 8 <= len(problem.graph.names) <= 14
        seconds = problem.graph.instructions / 1e9
        assert (seconds.min(), seconds.max()) == pytest.approx(WORK_S)
    assert len(list(workloads(2, seed=0))) == 2


@given(st.lists(st.floats(1e-6, 1e12), min_size=1, max_size=8))
def test_compression_keeps_ranks(values: list[float]) -> None:
    mapped = compressed(np.array(values), (0.005, 0.05))
    order = np.argsort(values, kind="stable")
    assert (np.diff(mapped[order]) >= 0).all()
    assert ((mapped >= 0.005 * (1 - 1e-9)) & (mapped <= 0.05 * (1 + 1e-9))).all()


@given(seed=st.integers(0, 50), operators=st.integers(4, 30), most=st.integers(1, 20))
def test_fusion_conserves_work(seed: int, operators: int, most: int) -> None:
    """A cycle would be refused by the graph; fusion stops only where every end has company."""
    graph = Recipe("layered", 1, range(operators, operators + 1), seed).graph(0)
    small = fused(graph, most)
    assert small.instructions.sum() == pytest.approx(graph.instructions.sum(), rel=1e-9)
    assert set(small.names) <= set(graph.names)
    if len(small.names) > most:
        outputs, inputs = (np.bincount(x) for x in (small.stream_source, small.stream_target))
        pairs = zip(small.stream_source, small.stream_target, strict=True)
        assert all(outputs[v] > 1 and inputs[w] > 1 for v, w in pairs)
    assert len(fused(graph, operators).names) == operators


def test_an_output_for_two_operators_of_a_group_is_sent_once() -> None:
    """The two light consumers of a become one operator, and then send one message each."""
    ends = [(0, 1), (0, 2), (1, 2), (2, 3)]
    sizes = [5.0, 5.0, 1.0, 7.0]
    graph = StreamGraph.from_columns(
        "abcd", [9, 1, 2, 9], [0] * 4, ends, stream_payload_bytes=sizes, firing="all"
    )
    small = fused(graph, 3)
    assert small.names == ("a", "b", "d")
    assert small.instructions.tolist() == [9, 3, 9]
    assert sorted(small.stream_payload_bytes.tolist()) == [5.0, 7.0]


def result(third: list[float], placement: int = 1) -> dict[str, Any]:
    """Return the result of a workload whose second stage took 0.1, 0.2 and 0.1 s."""
    second = {"placement": [0], "simulated_s": 0.1, "measured_s": [0.1, 0.2, 0.1]}
    other = {"placement": [placement], "simulated_s": 0.11, "measured_s": third}
    methods = {"stage two": second, **dict.fromkeys(("stage three", "climb", "search"), other)}
    return {
        "workload": "w",
        "operators": 2,
        "devices": 3,
        "network": "pair",
        "passes": {"stage three": 9, "climb": 8},
        "methods": methods,
    }


def test_a_change_is_paired() -> None:
    """Each pass is a tenth shorter, so that the spread over passes does not matter."""
    one = result([0.09, 0.18, 0.09])
    assert change(one, "stage three") == pytest.approx((-0.1, -0.1, -0.1))
    assert is_lower(one)
    mixed = result([0.09, 0.22, 0.1])
    middle, low, high = change(mixed, "stage three")
    assert middle == pytest.approx(math.exp((math.log(0.9) + math.log(1.1)) / 3) - 1)
    assert low < middle < high
    assert not is_lower(mixed)


def test_the_table_says_which_placements_are_the_same() -> None:
    found = list(lines([result([0.09, 0.18, 0.09]), result([0.1, 0.2, 0.1], placement=0)]))
    assert "| 100.0 ms | 90.0 ms (-10.0%; -10.0% to -10.0%)" in found[2]
    assert "| 100.0 ms | 100.0 ms (the same)" in found[3]
    assert "+10.0% | 9, 8 |" in found[2]
    assert found[-1] == "Stage three is faster than stage two on 1 of 2 workloads."
