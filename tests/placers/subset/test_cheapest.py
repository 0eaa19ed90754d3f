"""The cheapest set of devices, compared with brute force over all sets and placements."""

import numpy as np
import pytest

from streamplace.errors import InfeasibleError
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.balance import CARRIED
from streamplace.placers.subset.cheapest import Cheapest, Search
from streamplace.placers.subset.examination import Examiner
from streamplace.placers.subset.kinds import Kinds
from streamplace.problem.problem import Problem
from streamplace.scoring.throughput import throughput
from tests.support.device_sets import cheapest_prices, random_priced_problem

MOST_LOST = 2
MARGIN = 1e-9


def searched(problem: Problem, survive: int) -> tuple[Cheapest, Examiner]:
    """Return the cheapest set of a problem's devices that a short search finds."""
    prices = np.array([device.price for device in problem.cluster.devices], dtype=np.float64)
    kinds = Kinds(problem, prices)
    examiner = Examiner(problem, kinds, 0, 500, Budget())
    return Search(examiner, survive, 0).run(), examiner


def check(seed: int) -> int:
    """Check a random problem after 0, 1 and 2 losses; return how often there is a set."""
    try:
        problem = random_priced_problem(seed)
    except InfeasibleError:
        return 0
    exist = 0
    for survive, price in enumerate(cheapest_prices(problem, MOST_LOST)):
        found, examiner = searched(problem, survive)
        if price is None:
            assert found.counts is None, (seed, survive)
            continue
        exist += 1
        assert found.counts is not None, (seed, survive)
        assert examiner.kinds.cost(found.counts) == pytest.approx(price, abs=MARGIN), (
            seed,
            survive,
        )
        assert found.bound <= price + MARGIN, (seed, survive)
        assert found.bound >= price - MARGIN, (seed, survive)
        if not survive:
            result = examiner.results[found.counts]
            on_subset = result.carrying.problem
            reached = throughput(on_subset, result.carrying.devices)[0]
            assert reached >= CARRIED * problem.source_rate
            assert on_subset.feasibility.violation(result.carrying.devices) is None
    return exist


def test_the_cheapest_set_is_proven_on_small_problems() -> None:
    assert sum(check(seed) for seed in range(60)) >= 60


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_the_cheapest_set_is_proven_on_a_thousand_problems(part: int) -> None:
    assert sum(check(seed) for seed in range(1000 + 400 * part, 1400 + 400 * part)) >= 300
