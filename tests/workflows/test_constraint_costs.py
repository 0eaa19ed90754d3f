"""What each constraint costs."""

from dataclasses import replace
from typing import Any

import pytest

from streamplace import Cluster, Constraints, Device, Network, Operator, Stream, StreamGraph
from streamplace.display.mixins import view_of
from streamplace.display.view import Grid
from streamplace.errors import InfeasibleError
from streamplace.problem.cluster import Uplink
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.workflows import constraint_costs
from streamplace.workflows.constraint_costs import ConstraintCosts
from streamplace.workflows.constraint_costs import constraint_costs as costs_of
from streamplace.workflows.explain import explain_throughput as explain
from tests.support.placements import solve

GRAPH = StreamGraph(
    [Operator(name, 1e6, 0) for name in "abcdef"],
    [Stream(*pair) for pair in ("ab", "bc", "cd", "de", "ef")],
    source_rate=1500,
)


def test_equal_rates_read_the_same_in_an_explanation() -> None:
    """A bound is rounded up, and what placements carry is rounded down, unless they are equal."""
    rate = 22727.2727
    found = explain(placed(Constraints(pins={"a": "d0"}), rate=3e4))
    for bound, carried in ((rate, rate), (rate, rate * 0.9), (rate * 1.1, rate)):
        costs = ConstraintCosts(carried, (), thorough=True)
        text = str([*view_of(replace(found, bound=bound, costs=costs)).body])
        assert ("exceeds 22,727.3" in text) == (bound == rate)
        shown = "22,727.3" if bound == rate else "22,727.2"
        assert (f"carry more than {shown} tuples/s" in text) == (carried == rate)


def placed(rules: Constraints, cluster: Cluster | str = "3x2500", rate: float = 1500) -> Placement:
    return Placement(
        Problem(GRAPH, cluster, constraints=rules, source_rate=rate), [0, 0, 0, 1, 1, 2]
    )


def found(placement: Placement, **how: Any) -> ConstraintCosts:
    costs = costs_of(placement, **how)
    assert costs is not None
    return costs


def table(costs: ConstraintCosts) -> dict[str, float]:
    return {str(each.rule): each.max_source_rate for each in costs.without}


def test_rules_without_which_placements_carry_more() -> None:
    """Three operators on one device carry 2,500 / 3 tuples/s, and two per device 2,500 / 2."""
    rules = Constraints(pins=dict.fromkeys("abc", "d0"), exlocate=[["a", "f"]])
    costs = found(placed(rules))
    assert costs.max_source_rate == pytest.approx(2500 / 3)
    assert table(costs) == {f"constraints.pins['{name}']": pytest.approx(1250) for name in "abc"}
    assert [each.gain for each in costs.without] == pytest.approx([1250 - 2500 / 3] * 3)
    assert costs.every_rule_tried
    assert costs.to_dict()["without"][0]["rule"] == "constraints.pins['a']"


def test_memory_and_labels_count_too() -> None:
    rows = [Operator("a", 1e6, 0, requires=("gpu",)), Operator("b", 1e6, 0, memory_bytes=5)]
    graph = StreamGraph(rows, source_rate=2000)
    cluster = Cluster(
        [Device("x", 500, labels=("gpu",)), Device("y", 2000, memory_bytes=1), Device("z", 1000)]
    )
    placement = Placement(Problem(graph, cluster), [0, 2])
    costs = found(placement)
    assert costs.max_source_rate == pytest.approx(1000)  # half of it for each source
    assert table(costs) == {"requires of a": pytest.approx(2000)}
    slow = Cluster([cluster.devices[1], Device("z", 500)])
    one = StreamGraph(rows[1:], source_rate=2000)
    costs = found(Placement(Problem(one, slow), [1]))
    assert table(costs) == {"memory of y": pytest.approx(2000)}


def test_slots_are_tried_like_memory() -> None:
    """One slot of the fast device leaves two operators to the slow one."""
    rows = [Operator(name, 2e5, 0) for name in "ab"]
    graph = StreamGraph([*rows, Operator("c", 5e4, 0)], source_rate=30_000)
    cluster = Cluster([Device("x", 1000), Device("y", 4000, slots=1)])
    costs = found(Placement(Problem(graph, cluster), [1, 0, 0]))
    assert costs.max_source_rate == pytest.approx(12_000)
    # with slots, b and c carry 1e9 / (2.5e5 / 3); without, y carries a third of all: 4e9 / 1.33e5
    assert table(costs)["slots of y"] == pytest.approx(30_000)
    grid = costs.body()[1]
    assert isinstance(grid, Grid)
    assert grid.row(0)[0] == "if y had enough slots"


def test_a_poor_placement_is_no_fault_of_the_constraints() -> None:
    """The best placement under all constraints is the base, not the one that is explained."""
    costs = found(placed(Constraints(exlocate=[["a", "f"]])))
    assert costs.max_source_rate == pytest.approx(1250)
    assert costs.without == ()
    line = costs.body()[0]
    assert "found no single constraint" in getattr(line, "text", "")
    assert "searches longer" not in getattr(line, "text", "")
    line = found(placed(Constraints(exlocate=[["a", "f"]])), quick=True).body()[0]
    assert "--constraint-costs searches longer" in getattr(line, "text", "")


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 6))]
)
def test_a_cost_that_only_a_distant_placement_shows(seed: int) -> None:
    """Without the pin everything can run in the other rack, far from the best placement with it."""
    pairs = [("pay", "parse"), ("parse", "filter"), ("filter", "enrich"), ("enrich", "join")]
    pairs += [("login", "join"), ("join", "user"), ("join", "shop"), ("join", "model")]
    pairs += [("user", "model"), ("shop", "store"), ("model", "alert"), ("model", "store")]
    passed = [1, 1, 0.6, 1, 1, 0.55, 0.55, 0.3, 0.1, 0.1, 0.01, 1]
    # instructions in thousands, payload in bytes, memory in GB
    rows = {"pay": (15, 1200, 0.5), "login": (12, 600, 0.5), "parse": (180, 700, 1)}
    rows |= {"filter": (25, 700, 0.2), "enrich": (210, 1500, 8), "join": (160, 1800, 12)}
    rows |= {"user": (140, 300, 6), "shop": (110, 250, 4), "model": (450, 400, 10)}
    rows |= {"alert": (30, 0, 0.3), "store": (70, 0, 2)}
    graph = StreamGraph(
        [
            Operator(n, 1e3 * w, b, 1e9 * m, resources={"gpu": 1} if n == "model" else {})
            for n, (w, b, m) in rows.items()
        ],
        [Stream(*pair, share) for pair, share in zip(pairs, passed, strict=True)],
        source_rate=12_000,
        source_shares={"pay": 0.7, "login": 0.3},
    )
    left = [(3000, 2, 16), (3000, 2, 16), (2000, 1, 8), (2000, 1, 8)]
    right = [(3000, 2, 32), (3000, 1, 16), (2000, 2, 16), (2000, 2, 24)]
    devices = [
        Device(f"{group}{i}", mips, cores, memory_bytes=1e9 * memory, group=group)
        for group, several in (("l", left), ("r", right))
        for i, (mips, cores, memory) in enumerate(several)
    ]
    devices[-1] = replace(devices[-1], resources={"gpu": 1})
    uplinks = (Uplink("l", 20, 20), Uplink("r", 20, 20))
    cluster = Cluster(devices, Network("nic", uplinks=uplinks))
    rules = Constraints(pins={"pay": "l0"}, apart_groups=[["alert", "store"]])
    costs = found(solve(Problem(graph, cluster, constraints=rules)).placement, seed=seed)
    assert table(costs)["constraints.pins['pay']"] == pytest.approx(17388.3, rel=1e-4)


def test_changes_are_named_in_words() -> None:
    graph = StreamGraph([Operator("a", 1e6, 0, resources={"gpu": 1})], source_rate=2000)
    cluster = Cluster([Device("x", 500, resources={"gpu": 1}), Device("y", 2000)])
    costs = found(Placement(Problem(graph, cluster), [0]))
    grid = costs.body()[1]
    assert isinstance(grid, Grid)
    assert grid.row(0)[0] == "if y had enough gpu"


def test_the_same_seed_gives_the_same_costs() -> None:
    placement = placed(Constraints(pins=dict.fromkeys("abc", "d0")))
    assert costs_of(placement, seed=7) == costs_of(placement, seed=7)


def test_when_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    assert costs_of(placed(Constraints())) is None
    rules = Constraints(pins=dict.fromkeys("abcdef", "d0"))
    monkeypatch.setattr(constraint_costs, "FEW", 2)
    costs = found(placed(rules), quick=True)
    assert not costs.every_rule_tried
    assert "too many constraints" in getattr(costs.body()[0], "text", "")
    assert found(placed(rules)).every_rule_tried
    monkeypatch.setattr(constraint_costs, "SMALL", 1)
    assert costs_of(placed(rules), quick=True) is None


def test_explain_searches_if_the_rate_is_not_carried_or_if_asked() -> None:
    rules = Constraints(pins=dict.fromkeys("abc", "d0"))
    limited, carried = placed(rules), placed(rules, rate=100)
    assert explain(limited).costs == costs_of(limited, quick=True)
    assert explain(carried).costs is None
    asked = explain(carried, constraint_costs=True).costs
    assert asked is not None
    assert table(asked) == {f"constraints.pins['{name}']": pytest.approx(1250) for name in "abc"}


def test_rules_that_cannot_hold_have_no_costs() -> None:
    """Four operators that exclude each other in pairs do not fit on three devices."""
    pairs = [[a, b] for a in "abcd" for b in "abcd" if a < b]
    placement = placed(Constraints(exlocate=pairs))
    assert costs_of(placement, quick=True) is None
    with pytest.raises(InfeasibleError, match="no device is left for operator 'd'"):
        costs_of(placement)
    assert len(explain(placement).violations) > 0


def test_a_rule_of_a_parallel_operator_is_dropped_for_all_instances() -> None:
    """Without the pin, two devices carry 2,000 tuples/s; without the pin of one instance, 1,000."""
    pair = StreamGraph([Operator("a", 1e6, 0, parallelism=2)], source_rate=4000)
    rules = Constraints(pins={"a": "slow"}, allowed={"a": ["slow", "fast"]})
    cluster = Cluster([Device("slow", 500), Device("fast", 1000), Device("other", 1000)])
    costs = found(Placement(Problem(pair, cluster, constraints=rules), [0, 0]))
    assert costs.max_source_rate == pytest.approx(500)
    assert table(costs) == {"constraints.pins['a']": pytest.approx(1000)}
    apart = StreamGraph(
        [Operator("a", 1e6, 0, parallelism=2), Operator("b", 1e5, 0, parallelism=2)],
        [Stream("a", "b")],
        source_rate=4000,
    )
    rules = Constraints(exlocate=[["a", "b"]])
    costs = found(Placement(Problem(apart, "2x1000", constraints=rules), [0, 0, 1, 1]))
    assert costs.max_source_rate == pytest.approx(1000)
    assert table(costs) == {"constraints.exlocate[0]": pytest.approx(2000 / 1.1)}
