"""Annealing of makespans: the order of its steps, and their limits."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np
import pytest

import streamplace as sp
from benchmarks.makespans.drawn import drawn_problem
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.makespan.placers import annealing, search
from streamplace.makespan.placers.annealing import (
    CLIMBS,
    NO_HEAT,
    SMALL,
    Annealed,
    PassAnnealer,
    Step,
    best_of_passes,
    cooling_of,
)
from streamplace.makespan.placers.passes import shortest
from streamplace.makespan.placers.portfolio import Tries, samples
from streamplace.placers.budget import Budget
from streamplace.placers.registry import make_placer
from streamplace.placers.trivial import Single
from streamplace.problem.makespan import DispatchOrder
from streamplace.sim.schedule.anneal import Cooling
from streamplace.sim.schedule.state import Order
from streamplace.util.arrays import Ints
from tests.support.makespan_problems import makespan_of
from tests.support.placers import seeded_rng


def test_a_climb_comes_first_on_graphs_that_are_not_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first chain at a temperature starts where it ended."""
    chains = list[tuple[Cooling, list[int]]]()
    anneal = PassAnnealer.chain

    def noted(
        self: PassAnnealer,
        devices: Ints,
        order: Order,
        cooling: Cooling,
        enough_s: float,
        budget: Budget,
    ) -> Annealed:
        chains.append((cooling, devices.tolist()))
        found = anneal(self, devices, order, cooling, enough_s, budget)
        ends.append((found.makespan_s, found.devices.tolist()))
        return found

    ends = list[tuple[float, list[int]]]()
    monkeypatch.setattr(PassAnnealer, "chain", noted)
    large, small = drawn_problem(16, 0)[1], drawn_problem(12, 0)[1]
    scored = MakespanEvaluator(large)
    heft = make_placer("heft")(large, seeded_rng()).devices[None]
    best_of_passes(scored, seeded_rng(), heft, Budget(evaluations=5001))
    *climbs, (warm, second) = chains
    assert [climb.hot for climb, _ in climbs] == [NO_HEAT] * CLIMBS
    starts = [start for _, start in climbs]
    assert starts == [heft[0].tolist(), *(end for _, end in ends[: CLIMBS - 1])]
    assert second == ends[CLIMBS - 1][1]
    assert warm.hot > 1e-6
    assert ends[0][0] < float(scored.makespans(heft)[0])
    chains.clear()
    heft = make_placer("heft")(small, seeded_rng()).devices[None]
    best_of_passes(MakespanEvaluator(small), seeded_rng(), heft, Budget(evaluations=500))
    assert len(small.graph.names) <= SMALL
    assert chains[0][0].hot > 1e-6


@pytest.mark.parametrize("number", [12, 37])
def test_the_clock_only_ends_a_search(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock that measures times at random, the placements tried are the same until its end."""
    problem = drawn_problem(number, 0)[1]
    scored = MakespanEvaluator(problem)
    heft = make_placer("heft")(problem, seeded_rng()).devices[None]

    def makespans(seed: int) -> list[float]:
        rng, now_s = np.random.default_rng(seed), count()
        clock = (tick + rng.random() for tick in now_s)
        monkeypatch.setattr("streamplace.sim.work_clock.now", lambda: next(clock))
        found = list[float]()
        anneal = PassAnnealer._anneal

        def noted(self: PassAnnealer, *args: Any) -> tuple[float, int]:
            found.append(anneal(self, *args)[0])
            return found[-1], 1000

        with monkeypatch.context() as patch:
            patch.setattr(PassAnnealer, "_anneal", noted)
            more = [Tries(samples(problem), 0.1)]
            best_of_passes(scored, seeded_rng(), heft, Budget(400.0, _begun=0.0), more=more)
        return found

    first, second = makespans(0), makespans(1)
    common = min(len(first), len(second)) - 3  # near the end, fewer evaluations are made at a time
    assert common > 10
    assert first[:common] == second[:common]


def test_a_chain_ends_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock that only evaluations advance, it ends up to the least number of them later."""
    scored = MakespanEvaluator(drawn_problem(12, 0)[1])
    anneal, now_s, second = PassAnnealer._anneal, [0.0], 10_000  # evaluations in a second
    monkeypatch.setattr("streamplace.sim.work_clock.now", lambda: now_s[0])

    def timed(self: PassAnnealer, *args: Any) -> tuple[float, int]:
        found, evaluations = anneal(self, *args)
        now_s[0] += evaluations / second
        return found, evaluations

    monkeypatch.setattr(PassAnnealer, "_anneal", timed)
    start = make_placer("heft")(scored.problem, seeded_rng()).devices
    annealer = PassAnnealer(scored, seeded_rng())
    cooling = cooling_of(10**6, scored.tasks.operators, 1)
    annealer.chain(start, scored.orders[0], cooling, 0.0, Budget(2.2, _begun=0.0))
    assert 2.2 <= now_s[0] <= 2.2 + annealing.LEAST / second


@pytest.mark.parametrize("name", ["auto", "search"])
def test_all_partitions_are_starts_on_small_graphs(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The starts of a search that can pay for them have METIS with the best number of parts."""

    def starts(
        scored: MakespanEvaluator, _: Any, rows: Ints, *__: Any, **___: Any
    ) -> Iterator[Step]:
        yield Step([rows[shortest(scored, rows)]], 1)

    monkeypatch.setattr(search, "annealed_passes", starts)
    for number in (199, 247):
        problem = drawn_problem(number, 1)[1]
        assert len(problem.graph.names) <= SMALL
        two = makespan_of(make_placer("metis-recursive:parts=2")(problem, seeded_rng()))
        own = makespan_of(make_placer(f"{name}:evaluations={search.WORTH}")(problem, seeded_rng()))
        for metis in ("metis-oracle", "metis-recursive-oracle"):
            best = makespan_of(make_placer(metis)(problem, seeded_rng()))
            assert own <= best * (1 + 1e-9)
            assert best < two


@pytest.mark.parametrize("order", ["fifo", "b-level"])
def test_graphs_are_searched_however_large_they_are(
    order: DispatchOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of a chain begins with its placement, so one evaluation alone would change nothing."""
    monkeypatch.setattr(annealing, "SLICE", 1)
    problem = drawn_problem(16, 0)[1].with_objective(sp.Makespan(order=order))
    scored = MakespanEvaluator(problem)
    start = Single()(problem, seeded_rng()).devices[None]
    found = best_of_passes(scored, seeded_rng(), start, Budget(evaluations=1000))
    assert scored.makespans(found)[0] < scored.makespans(start)[0]
