"""The cheapest set of devices, compared with brute force over all sets and placements."""

import numpy as np
import pytest

from benchmarks.reference.message_problems import with_message_fields
from streamplace import Cluster, Device, Network, Operator, Stream, StreamGraph
from streamplace.capacity.subset.cheapest import Cheapest, Lattice, Search
from streamplace.capacity.subset.conditions import Conditions, Kinds
from streamplace.capacity.subset.examination import Examiner, Verdict
from streamplace.capacity.subset.price_bound import price_bound
from streamplace.errors import GraphError, InfeasibleError
from streamplace.placers.budget import Budget
from streamplace.placers.search.balance import CARRIED
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.throughput import throughput
from tests.support.device_sets import cheapest_prices, random_priced_problem
from tests.support.share import Share

MOST_LOST = 2
MARGIN = 1e-9


def searched(problem: Problem, survive: int) -> tuple[Cheapest, Examiner]:
    """Return the cheapest set of a problem's devices that a short search finds."""
    prices = np.array([device.price for device in problem.cluster.devices], dtype=np.float64)
    kinds = Kinds(problem, prices)
    examiner = Examiner(problem, kinds, 0, 500, Budget())
    return Search(examiner, survive, 0).run(), examiner


def check(seed: int, *, shared: bool = False) -> int:
    """Check a random problem after 0, 1 and 2 losses; return how often there is a set.

    With `shared`, it has times by kind of device, shared messages and similar fields.
    """
    try:
        problem = random_priced_problem(seed)
        if shared:
            problem = with_message_fields(problem, np.random.default_rng((seed, 5)))
            flow(problem)
    except (GraphError, InfeasibleError):
        return 0
    exist = 0
    for survive, price in enumerate(cheapest_prices(problem, MOST_LOST)):
        found, examiner = searched(problem, survive)
        if price is None:
            assert found.counts is None, (seed, survive)
            continue
        exist += 1
        kinds, conditions = examiner.kinds, examiner.conditions
        assert price_bound(conditions, kinds, survive, np.inf).price <= price + MARGIN, seed
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
    assert sum(check(seed) for seed in range(20)) >= 20


def test_the_cheapest_set_is_proven_with_times_and_shared_messages() -> None:
    assert sum(check(seed, shared=True) for seed in range(3000, 3020)) >= 10


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_the_cheapest_set_is_proven_on_a_thousand_problems(part: int, share: Share) -> None:
    seeds = share.of(range(1000 + 400 * part, 1400 + 400 * part))
    assert sum(check(seed) for seed in seeds) >= share.least(300)
    shared = share.of(range(3000 + 20 * part, 3020 + 20 * part))
    assert sum(check(seed, shared=True) for seed in shared) > 0


def many_devices() -> Problem:
    """Return a problem on 40 devices of 40 kinds, whose sets cannot be enumerated."""
    rng = np.random.default_rng(0)
    operators = [Operator(f"o{v}", float(rng.integers(1, 9)) * 1e5, 10.0) for v in range(80)]
    graph = StreamGraph(operators, [Stream("o0", f"o{v}") for v in range(1, 80)], source_rate=1e3)
    devices = [
        Device(f"d{d}", 1000.0 + 100.0 * d, price=float(rng.integers(10, 20 + d)))
        for d in range(40)
    ]
    return Problem(graph, Cluster(devices, Network("nic")))


@pytest.mark.long
@pytest.mark.parametrize("survive", [0, 1])
def test_a_set_of_many_devices_has_a_small_gap(survive: int) -> None:
    problem = many_devices()
    found, examiner = searched(problem, survive)
    assert found.counts is not None
    assert not Lattice.is_small(examiner.kinds)
    price = examiner.kinds.cost(found.counts)
    assert 0.8 * price <= found.bound <= price
    assert found.bound == round(found.bound)  # a sum of prices, which are whole numbers
    assert examiner.survives(found.counts, survive) is Verdict.CARRIES


def test_the_bound_of_many_devices_is_their_linear_relaxation() -> None:
    """Work alone counts here, so devices are best in order of their speed per price."""
    problem = many_devices()
    _, examiner = searched(problem, 0)
    conditions = Conditions(
        problem.cluster.capacity[None, [members[0] for members in examiner.kinds.members]]
        / flow(problem).work.sum(),
        examiner.kinds.kept,
    )
    left, expected = 1.0, 0.0
    speed = conditions.amounts[0] / examiner.kinds.price
    for kind in np.argsort(-speed):
        share = min(1.0, left / conditions.amounts[0, kind])
        left -= share * conditions.amounts[0, kind]
        expected += share * examiner.kinds.price[kind]
    found = price_bound(conditions, examiner.kinds, 0, np.inf).price
    assert np.ceil(expected - 1e-3) <= found <= np.ceil(expected)


class Reads(Budget):
    """A budget whose time is up once it was asked for so many times."""

    def __init__(self, reads: int) -> None:
        super().__init__(1.0)
        self._reads = reads

    def seconds_left(self) -> float:
        self._reads -= 1
        return 1.0 if self._reads >= 0 else 0.0


def search_of_pairs(reads: int) -> Search:
    """Return a search for the devices of 30 pairs of operators; 25 of 60 suffice."""
    loads = {f"{kind}{i}": load for i in range(30) for kind, load in (("a", 4e3), ("b", 4.4e3))}
    operators = [Operator(name, load, 2e3) for name, load in loads.items()]
    graph = StreamGraph(operators, [Stream(f"a{i}", f"b{i}") for i in range(30)], source_rate=3e4)
    problem = Problem(graph, Cluster.equal(60, mips=12.0))
    return Search(Examiner(problem, Kinds(problem, np.ones(60)), 0, 2_000, Reads(reads)), 0, 0)


def test_a_good_set_is_known_before_all_cheaper_ones_are_examined() -> None:
    """Examined from the cheapest on alone, all 60 devices would be the only set known by then."""
    found = search_of_pairs(reads=8).run()
    assert found.counts is not None
    assert sum(found.counts) <= 30


def test_a_search_goes_on_where_its_time_was_up() -> None:
    search = search_of_pairs(reads=8)
    first = search.run()
    assert first.bound < 25.0
    assert search.go_on(Budget()) == Cheapest((25,), 25.0)


@pytest.mark.long
def test_the_same_seed_gives_the_same_set() -> None:
    first, second = (searched(many_devices(), 1)[0] for _ in range(2))
    assert first == second
