"""Counts of evaluations: nested, per thread, and none; reports of how far searches are."""

from threading import Thread

import pytest

import streamplace as sp
from streamplace.util.running_search import count, counting, report, watch
from streamplace.workflows.explain_losses import explain_losses

(GRAPH,) = sp.generate("layered", 1, operators=30, seed=3)
UNEQUAL = sp.Cluster([sp.Device(f"d{i}", 2500.0 + 500 * i, price=5.0 + i) for i in range(8)])


def test_nothing_counted_is_not_zero() -> None:
    with counting() as counted:
        pass
    assert counted.evaluations is None


def test_outer_blocks_count_what_inner_ones_do() -> None:
    with counting() as outer:
        count(2)
        with counting() as inner:
            count(3)
    count(7)
    assert (outer.evaluations, inner.evaluations) == (5, 3)


def test_other_threads_are_not_counted() -> None:
    with counting() as counted:
        thread = Thread(target=count, args=(4,))
        thread.start()
        thread.join()
        count(1)
    assert counted.evaluations == 1


def test_only_what_the_first_report_is_about_counts() -> None:
    """A plan, for example, counts devices, and its searches for placements report rates."""
    report("{} devices", 9.0)  # outside of `watch`
    with watch() as latest:
        assert latest.standing is None
        report("{} devices", None, 2.0)
        report("{} tuples/s", 1e3)
        report("{} devices", 4.0, 3.0, 7)
        with watch() as inner:
            report("{} tuples/s", 2e3)
    report("{} devices", 1.0)
    assert latest.standing == ("{} devices", 4.0, 3.0, 7)
    assert inner.standing == ("{} tuples/s", 2e3, None, None)


@pytest.mark.parametrize("placer", ["exact:seconds=0.5", "auto:evaluations=50000"])
def test_placers_report_the_rate_that_is_sustained(placer: str) -> None:
    """No placement carries so much, so that it is the throughput."""
    with watch() as latest:
        found = sp.place(GRAPH, "5x2500", source_rate=1.2e4, placer=placer)
    assert latest.standing is not None
    what, best, bound, _ = latest.standing
    assert what == "{} tuples/s"
    assert (best, bound) == pytest.approx((found.score.throughput, found.bound))


def test_makespans_are_reported() -> None:
    with watch() as latest:
        found = sp.place(GRAPH, "3x2500", objective=sp.Makespan(), placer="auto:evaluations=99")
    assert latest.standing is not None
    what, best, *_ = latest.standing
    assert (what, best) == ("{} s", found.score.makespan_s)


def test_plans_and_sizes_report_what_they_minimise() -> None:
    with watch() as planning:
        planned = sp.plan(GRAPH, "2x2500", evaluations=5_000)
    with watch() as buying:
        bought = sp.plan(GRAPH, UNEQUAL, evaluations=5_000)
    with watch() as sizing:
        sized = sp.size(GRAPH, UNEQUAL, resize=True, evaluations=5_000)
    assert bought.cheapest is not None
    expected = [
        ("{} devices", planned.fewest_devices),
        ("price {}", bought.cheapest.price),
        ("{} machines", sized.machines),
    ]
    for watched, (what, best) in zip((planning, buying, sizing), expected, strict=True):
        assert watched.standing is not None
        assert (watched.standing.what, watched.standing.best) == (what, best)
        assert watched.standing.tried


def test_losses_that_were_tried_are_reported() -> None:
    placed = sp.place(GRAPH, "3x2500", placer="greedy").placement
    with watch() as latest:
        found = explain_losses(placed)
    assert latest.standing == ("{} losses", None, None, len(found.effects) - 1)


def test_searches_for_a_goal_do_not_report_rates_under_other_loads() -> None:
    """They search with loads that are raised by a multiple of their standard errors."""
    operators = [sp.Operator(n, 5e4, 100.0, instructions_se=2e4) for n in "abcdefgh"]
    streams = [sp.Stream(a, b) for a, b in zip("abcdefg", "bcdefgh", strict=True)]
    graph = sp.StreamGraph(operators, streams, source_rate=1e4)
    placer = "auto:evaluations=5000"
    standings = []
    for wanted in (None, 0.9):
        with watch() as latest:
            sp.place(graph, "3x2500", placer=placer, confidence=wanted)
        standings.append(latest.standing)
    assert standings[0] == standings[1]
