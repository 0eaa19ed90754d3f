"""Target utilisation: throughput is that of a slower cluster, but utilisations are unchanged."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.reference import oracle
from benchmarks.reference.changes import as_fast, remade
from benchmarks.reference.strategies import Case, batches, cases, problems
from streamplace.learning.policy.device_scorer import features as scorer
from streamplace.papers.ni2020.features import NiProblem, encoded, utilisations
from streamplace.problem.objective import MODELS, Model
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.scoring.throughput import bound, simulate, throughput
from streamplace.sim.engine import Profile, Scene, Settings, Speed
from streamplace.ticks import runs as engine
from streamplace.ticks.files import trace_to
from streamplace.workflows.compare import compare
from streamplace.workflows.place import place
from tests.support.graphs import chain_graph

SHARES = st.sampled_from([0.1, 0.5, 0.8, 1.0])


def shrunk_problem(problem: Problem, share: float) -> Problem:
    """Return the problem on devices and links with a share of their capacity."""
    cluster, rate = as_fast(problem.cluster, share), problem.source_rate
    return Problem(problem.graph, cluster, source_rate=rate, model=problem.model)


@pytest.mark.parametrize("model", CLOSED_FORMS)
@given(data=st.data(), share=SHARES)
def test_throughput_is_that_of_a_slower_cluster(
    model: Model, data: st.DataObject, share: float
) -> None:
    problem = data.draw(problems(model))
    rows = data.draw(batches(problem))
    smaller = shrunk_problem(problem, share)
    expected = [oracle.throughput(smaller, row.tolist()) for row in rows]
    found = throughput(remade(problem, target_utilisation=share), rows)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert bound(remade(problem, target_utilisation=share)) == pytest.approx(
        bound(smaller), rel=1e-12
    )


@given(cases(), SHARES)
def test_bottleneck_by_its_definition(case: Case, share: float) -> None:
    """Throughput is source rate * min(1, U / largest utilisation of the full capacity)."""
    problem, devices = case
    on_device, on_link = oracle.utilisations(problem, devices)
    own = oracle.own_utilisations(problem, devices)
    worst = float(max([*on_device.values(), *on_link.values(), *own.values()]))
    score = simulate(Placement(remade(problem, target_utilisation=share), devices))
    expected = problem.source_rate * (min(1.0, share / worst) if worst else 1.0)
    assert score.throughput == pytest.approx(expected, rel=1e-12)
    assert score.bottleneck.utilisation == pytest.approx(worst, rel=1e-12)
    for loads, of_oracle in ((score.devices, on_device), (score.links, on_link)):
        found: dict[str, Any] = {load.name: load.utilisation for load in loads}
        assert found == pytest.approx({k: float(u) for k, u in of_oracle.items()}, rel=1e-12)


@settings(max_examples=30)
@pytest.mark.parametrize("model", MODELS)
@given(data=st.data())
def test_a_target_of_one_half_equals_half_the_capacity(model: Model, data: st.DataObject) -> None:
    """Halving is exact in floating point, so only the utilisations may differ."""
    problem, devices = data.draw(cases(model))
    smaller = simulate(Placement(shrunk_problem(problem, 0.5), devices))
    half = simulate(Placement(remade(problem, target_utilisation=0.5), devices))
    assert half.throughput == smaller.throughput
    for a, b in zip(half.devices + half.links, smaller.devices + smaller.links, strict=True):
        assert (a.name, a.utilisation) == (b.name, b.utilisation / 2)
    assert half.bottleneck.name == smaller.bottleneck.name


def ni2020(problem: Problem) -> NiProblem:
    """Return a problem as the network of the paper reads it."""
    return encoded(problem, utilisations(problem), "by-depth")


@given(problems())
def test_policies_encode_the_slower_cluster(problem: Problem) -> None:
    pair = remade(problem, target_utilisation=0.5), shrunk_problem(problem, 0.5)
    for parts, (half, smaller) in (
        (("operators", "streams", "totals", "orders"), map(scorer.encode, pair)),
        (("operators", "orders"), map(ni2020, pair)),
    ):
        for part in parts:
            np.testing.assert_array_equal(getattr(half, part), getattr(smaller, part))


def test_an_engine_run_reports_utilisations_of_the_full_capacity() -> None:
    """No device exceeds a target of one half, which also applies to slowed devices.

    Two operators that need 1 ms per tuple would fill one device each at 1000 tuples/s. The second
    device runs at half its speed from the start.
    """
    scene = Scene({0: Profile((0.0,), (1.0,))}, speeds=(Speed(1, 0.0, 0.5),))
    graph = chain_graph(2.5e6, 2.5e6)
    problem = Problem(graph, source_rate=1000, model="engine", target_utilisation=0.5)
    placement = Placement(problem, [0, 1])
    found = engine.run(placement, Settings(), scene, 1.0)
    trace = trace_to(placement, found)
    assert found.relative_throughput == pytest.approx(0.25, rel=1e-3)
    slowed = trace["devices"][1]["utilisation"]
    assert max(slowed) == pytest.approx(0.5)
    assert trace["devices"][0]["utilisation"][-1] == pytest.approx(0.25, rel=1e-2)
    assert trace["operators"][1]["utilisation"] == slowed


def test_place_and_compare_leave_headroom() -> None:
    graph = chain_graph(1e6, 1e6, 1e6, 1e6)  # 0.4 of a device each
    full = place(graph, placer="auto:prefer=fewest")
    spare = place(graph, placer="auto:prefer=fewest", target_utilisation=0.5)
    assert full.score.devices_used == 2
    assert spare.score.devices_used == 4
    assert spare.score.relative_throughput == 1.0
    assert spare.score.bottleneck.utilisation == pytest.approx(0.4)
    tight = place(graph, target_utilisation=0.25)
    assert tight.score.relative_throughput == pytest.approx(0.25 / 0.4)
    assert tight.bound == pytest.approx(tight.score.throughput)
    assert tight.gap == pytest.approx(0.0)
    table = compare([graph], ["auto"], target_utilisation=0.25, jobs=1)
    assert table.rows[0].mean == pytest.approx(0.25 / 0.4)
