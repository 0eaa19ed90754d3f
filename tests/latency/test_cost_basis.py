"""What an answer rests on where costs are uncertain, and the number to measure first."""

from math import exp, log, sqrt
from statistics import NormalDist

import pytest

import streamplace as sp
from streamplace.latency.cost_basis import BINS, CostBasis, cost_basis

Z = NormalDist().inv_cdf(0.95)


def placed(
    graph: sp.StreamGraph, cluster: str = "2x2500", model: str = "bottleneck"
) -> sp.Placement:
    found = sp.place(graph, cluster, placer="greedy", model=model)  # type: ignore[call-overload]
    placement: sp.Placement = found.placement
    return placement


def two(first: float, second: float) -> sp.StreamGraph:
    """Return two operators of equal mean cost with these standard errors, as shares of it."""
    rows = [
        sp.Operator("a", 2e6, 0.0, instructions_se=2e6 * first),
        sp.Operator("b", 2e6, 0.0, instructions_se=2e6 * second),
    ]
    return sp.StreamGraph(rows, source_rate=1000.0)


def ends(found: CostBasis) -> tuple[float, float]:
    assert found.sustained is not None
    return found.sustained


def test_the_range_of_one_lognormal_cost_is_known() -> None:
    graph = sp.StreamGraph([sp.Operator("a", 2e6, 0.0, instructions_se=2e6)], source_rate=1000.0)
    found = cost_basis(1, 2, placed(graph))
    sigma = sqrt(log(2.0))
    middle = 2.5e9 / (2e6 * exp(-(sigma**2) / 2))
    expected = (middle * exp(-Z * sigma), middle * exp(Z * sigma))
    assert ends(found) == pytest.approx(expected, rel=0.05)
    assert found.throughput == pytest.approx((expected[0], 1000.0), rel=0.05)
    assert found.first is not None
    assert (found.first.kind, found.first.name) == ("instructions", "a")
    assert found.first.factor == pytest.approx(1.0, abs=1e-6)  # nothing else is uncertain


def test_the_cost_with_the_largest_effect_comes_first_and_its_effect_is_true() -> None:
    """With the cost known at any of several values, the range is as narrow as stated."""
    found = cost_basis(2, 2, placed(two(0.3, 3.0)))
    assert found.first is not None
    assert found.first.name == "b"
    sigma = sqrt(log(1.0 + 9.0))
    widths = []
    for step in range(BINS):
        z = NormalDist().inv_cdf((step + 0.5) / BINS)
        known = 2e6 * exp(z * sigma - sigma**2 / 2)
        rows = [sp.Operator("a", 2e6, 0.0, instructions_se=6e5), sp.Operator("b", known, 0.0)]
        exact = cost_basis(1, 2, placed(sp.StreamGraph(rows, source_rate=1000.0)))
        widths.append(log(ends(exact)[1] / ends(exact)[0]))
    assert log(found.first.factor) == pytest.approx(sum(widths) / BINS, abs=0.12)


def test_only_costs_that_narrow_the_range_are_named() -> None:
    """Of 60 equal costs on one device, none takes away a twentieth of the width."""
    rows = [sp.Operator(f"o{i}", 1e4, 0.0, instructions_se=5e3) for i in range(60)]
    graph = sp.StreamGraph(rows, source_rate=1000.0)
    found = cost_basis(60, 120, placed(graph, "1x2500"))
    assert found.first is None
    assert found.sustained is not None
    assert "measure" not in repr(found)


def test_answers_without_a_range_only_count() -> None:
    graph = two(0.3, 3.0)
    assert cost_basis(1, 2, None).sustained is None
    assert cost_basis(1, 2, placed(graph, model="path-average")).sustained is None
    assert cost_basis(1, 2, placed(two(0.0, 0.0))).sustained is None
    passed = sp.place(graph, "2x2500", objective=sp.Makespan(), placer="heft")
    assert cost_basis(1, 2, passed.placement).sustained is None
    assert cost_basis(1, 2, None).headline == "1 of 2 costs is a typical value"


def test_the_range_in_words_and_json() -> None:
    found = CostBasis(8, 12, 20_000.0, (9_000.0, 41_234.0))
    assert found.headline == (
        "8 of 12 costs are typical values; throughput between 9,000 and 20,000 tuples/s with 90%"
    )
    assert CostBasis(8, 12, 20_000.0, (21_000.0, 41_000.0)).headline.endswith(
        "; throughput 20,000 tuples/s with 90%"
    )
    assert found.to_dict() == {
        "typical": 8,
        "costs": 12,
        "probability": 0.9,
        "throughput": (9_000.0, 20_000.0),
        "sustained": (9_000.0, 41_234.0),
        "measure_first": None,
    }


def test_equal_seeds_give_equal_ranges() -> None:
    placement = placed(two(0.3, 3.0))
    assert cost_basis(1, 2, placement, 5) == cost_basis(1, 2, placement, 5)
    assert cost_basis(1, 2, placement, 5) != cost_basis(1, 2, placement, 6)
