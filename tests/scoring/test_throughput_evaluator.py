"""Several source rates: the worst one determines the score."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.reference import oracle
from benchmarks.reference.changes import remade
from benchmarks.reference.strategies import batches, cases, problems
from streamplace import Cluster, Operator, Stream, StreamGraph
from streamplace.placers.search.consolidate import fewest_devices
from streamplace.problem.objective import MODELS, Model
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import CLOSED_FORMS, throughput_evaluator
from streamplace.scoring.throughput import bound, simulate, throughput
from streamplace.scoring.throughput_evaluator import worst_of
from streamplace.workflows.place import place
from tests.support.graphs import MBIT
from tests.support.placements import solve
from tests.support.placers import SOME_LONG

RATES = st.lists(st.integers(3, 20).map(lambda n: n * 100.0), min_size=1, max_size=3)
SHARES = {"a": 0.3, "b": 0.6, "c": 0.1}
CROWDED = StreamGraph(
    [
        Operator("a", 0, 2 * MBIT),
        Operator("b", 0, 0),
        Operator("c", 0, 10 * MBIT),
        Operator("on", 0, MBIT),
        Operator("big", 0, 10 * MBIT),
        *(Operator(name, 0, 0) for name in "xyz"),
    ],
    [
        Stream("a", "on"),
        Stream("on", "big"),
        Stream("c", "x"),
        Stream("big", "y"),
        Stream("b", "z"),
    ],
    source_shares=SHARES,
)
DEVICES = [3, 1, 0, 0, 1, 1, 2, 2]
"""A placement in which, at a higher rate, c displaces traffic that would slow down b.

At 2000 tuples/s, link 3 -> 0 passes 500 of a's 600 tuples/s. Link 0 -> 1 passes 0.4 of its offered
500 * 1 + 200 * 10 Mbit/s. Link 1 -> 2 passes half of 200 * 10 Mbit/s, and so half of b's 1200
tuples/s. The sinks get 80 + 100 + 600 tuples/s. At 4000 tuples/s, link 0 -> 1 passes 2/9 of its
offered 500 * 1 + 400 * 10 Mbit/s, and link 1 -> 2 passes 0.9 of 1111 Mbit/s, and so 0.9 of b's 2400
tuples/s. The sinks get 88.9 + 100 + 2160 tuples/s.
"""


def crowded(*rates: float, model: Model = "path-average") -> Placement:
    """Return a placement whose relative throughput rises with the rate."""
    return Placement(Problem(CROWDED, Cluster.equal(4), source_rate=rates, model=model), DEVICES)


def test_the_highest_rate_need_not_be_the_worst() -> None:
    alone = [simulate(crowded(rate)) for rate in (2000, 4000)]
    found = [score.relative_throughput for score in alone]
    assert found == pytest.approx([780 / 2000, (800 / 9 + 100 + 2160) / 4000])
    both = crowded(2000, 4000)
    assert simulate(both) == alone[0]
    assert simulate(both).source_rate == 2000
    assert throughput(both.problem, both.devices) == pytest.approx([4000 * 0.39])
    assert simulate(crowded(2000, 4000, model="bottleneck")).source_rate == 4000


@pytest.mark.parametrize("model", CLOSED_FORMS)
@given(data=st.data(), rates=RATES)
def test_agrees_with_the_oracle(model: Model, data: st.DataObject, rates: list[float]) -> None:
    problem = remade(data.draw(problems(model, max_size=6)), source_rate=rates)
    rows = data.draw(batches(problem, max_size=4))
    found = throughput(problem, rows)
    for row, achieved in zip(rows.tolist(), found, strict=True):
        relative = {
            rate: oracle.throughput(remade(problem, source_rate=rate), row) / rate for rate in rates
        }
        worst = min(relative.values())
        assert achieved == pytest.approx(max(rates) * worst, rel=1e-9)
        score = simulate(Placement(problem, row))
        assert score.relative_throughput == pytest.approx(worst, rel=1e-9)
        assert relative[score.source_rate] == pytest.approx(worst, rel=1e-9)
        assert score.throughput == pytest.approx(score.source_rate * worst, rel=1e-9)
    assert found.max() <= bound(problem) * (1 + 1e-9)


@settings(max_examples=20)
@pytest.mark.parametrize("model", MODELS)
@given(data=st.data(), rates=RATES)
def test_the_score_equals_that_of_the_worst_rate_alone(
    model: Model, data: st.DataObject, rates: list[float]
) -> None:
    problem, devices = data.draw(cases(model))
    found = simulate(Placement(remade(problem, source_rate=rates), devices))
    alone = [simulate(Placement(remade(problem, source_rate=rate), devices)) for rate in rates]
    assert found.relative_throughput == min(score.relative_throughput for score in alone)
    assert found in alone
    assert found.source_rate == max(
        score.source_rate
        for score in alone
        if score.relative_throughput == found.relative_throughput
    )


def test_cases_are_the_rates_that_can_be_the_worst() -> None:
    both = crowded(2000, 4000).problem
    cases = throughput_evaluator(both).cases
    assert [flow(case).source_rate for case in cases] == [4000, 2000]
    assert cases[0].objective == both.objective
    under_backpressure = crowded(2000, 4000, model="bottleneck").problem
    [worst] = throughput_evaluator(under_backpressure).cases
    assert worst.objective == under_backpressure.objective


@pytest.mark.parametrize("name", SOME_LONG)
def test_every_placer_supports_several_rates(name: str) -> None:
    """Placers that compare scores use the worst rate."""
    problem = crowded(2000, 4000).problem
    found = solve(problem, name)
    assert problem.feasibility.violation(found.placement.devices) is None
    worst = min(
        oracle.path_average(remade(problem, source_rate=rate), found.placement.devices.tolist())
        / rate
        for rate in (2000, 4000)
    )
    assert found.score.relative_throughput == pytest.approx(worst)
    assert found.bound is not None
    assert found.score.throughput <= found.bound * (1 + 1e-9)


def test_fewest_devices_compares_scores_at_the_worst_rate() -> None:
    """DEVICES achieves 0.39 of 2,000 tuples/s and 0.59 of 4,000; one device achieves 1 and 0.5."""
    working = [replace(o, instructions=2.5e6 / 3 * (o.name in "abz")) for o in CROWDED.operators]
    graph = StreamGraph(working, CROWDED.streams, source_shares=SHARES)

    for rates, expected in (((4000,), DEVICES), ((2000, 4000), [0] * 8)):
        problem = Problem(graph, Cluster.equal(4), source_rate=rates, model="path-average")
        found = [Placement(problem, devices) for devices in (DEVICES, [0] * 8)]
        assert fewest_devices(problem, found).devices.tolist() == expected


def test_the_bound_is_at_the_rate_of_the_score() -> None:
    """The gap must not compare tuples/s of different rates."""
    crowd = crowded(2000, 4000).problem
    heavy = [
        replace(o, instructions=2e6) for o in CROWDED.operators
    ]  # 16,800 MIPS needed, 10,000 available
    graph = StreamGraph(heavy, CROWDED.streams, source_shares=SHARES)
    for rates in ((2000, 4000), (4000,)):
        found = place(
            graph, crowd.cluster, source_rate=rates, model="path-average", placer="search"
        )
        assert found.bound is not None
        assert found.gap is not None
        best = bound(found.placement.problem) / 4000
        assert found.gap == pytest.approx(1 - found.score.relative_throughput / best)
        assert found.bound == pytest.approx(best * found.score.source_rate)


@pytest.mark.parametrize("order", range(12))
@pytest.mark.parametrize("model", ["path-average", "engine"])
def test_rates_that_tie_up_to_rounding_give_the_highest(model: Model, order: int) -> None:
    """Rounding may lower the relative throughput at any of the rates by one bit."""
    ends = [("op0", "op2", 0.25), ("op0", "op8", 1.5), ("op0", "op8", 1.5)]
    names = [f"op{v}" for v in np.random.default_rng(order).permutation(9)]
    streams = [Stream(*end) for end in ends]
    graph = StreamGraph([Operator(name, 0.0, 0.0) for name in names], streams)
    problem = Problem(graph, "1x500", source_rate=[400.0, 300.0], model=model)
    assert simulate(Placement(problem, [0] * 9)).source_rate == 400.0


def test_worst_of_returns_the_first_of_ties() -> None:
    assert worst_of([1.0, 1.0 - 2e-16, 1.0]) == 0
    assert worst_of([1.0, 0.9, 0.9 - 1e-15]) == 1
    assert worst_of([0.0, 0.0]) == 0
