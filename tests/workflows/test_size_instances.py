"""Sizes of jobs whose instances have shares, names, tasks or limited scaling."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamplace as sp
from streamplace.errors import GraphError, InfeasibleError, ProblemError, UsageError
from streamplace.problem.counts import expanded
from streamplace.problem.parallelism import Scaling
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.workflows.size import size
from streamplace.workflows.sizing.instances import (
    EVERY,
    Shares,
    lowest_load,
    named_instances,
    of_whole_operators,
    tasks_of,
)
from streamplace.workflows.sizing.requirements import Requirement
from streamplace.workflows.sizing.scaling import expected_rate, fit_scaling, next_count

KINDS = ("", "rebalance", "hash", "forward", "rescale", "broadcast")


def drawn(seed: int) -> tuple[sp.StreamGraph, dict[str, int]]:
    """Return two sources whose streams join, an operator after them, and numbers of instances."""
    rng = np.random.default_rng(seed)
    names = ["a", "b", "join", "last"]
    groups = {name: int(rng.integers(2, 9)) for name in names if rng.random() < 0.5}
    counts = {name: int(rng.integers(1, min(6, groups.get(name, 6)) + 1)) for name in names}
    streams = []
    for source, target in (("a", "join"), ("b", "join"), ("join", "last"), ("a", "last")):
        kind = str(rng.choice(KINDS))
        keys = dict.fromkeys("abcdef"[: int(rng.integers(0, 4))], 0.3) if kind == "hash" else {}
        selectivity = float(rng.choice([0.5, 1.0]))
        stream = sp.Stream(source, target, selectivity, partitioning=kind, key_shares=keys)
        streams.append(stream)
    operators = [sp.Operator(name, 1e3, 1.0, partitions=groups.get(name)) for name in names]
    return sp.StreamGraph(operators, streams, source_rate=100.0), counts


@pytest.mark.parametrize("seed", range(150))
def test_shares_are_lower_bounds_and_exact_where_streams_say_all(seed: int) -> None:
    graph, counts = drawn(seed)
    ones = Problem(expanded(graph, dict.fromkeys(counts, 1)), "1x1000")
    alone = flow(ones).operator_tuples
    several = Problem(expanded(graph, counts), "1x1000")
    rates = flow(several).operator_tuples
    shares = Shares(graph, alone[graph.stream_source] * graph.selectivity)
    kinds = {graph.partitioning.get(e, "") for e in range(len(graph.streams))}
    for v, name in enumerate(graph.names):
        own = [
            rates[i] for i, each in enumerate(several.graph.names) if each.partition("[")[0] == name
        ]
        bound = alone[v] * shares.busiest(v, counts[name])
        assert bound <= max(own) * (1 + 1e-9)
        assert shares.least(v) <= shares.busiest(v, counts[name]) * (1 + 1e-9)
        if not kinds & {"forward", "rescale", "broadcast"}:
            assert bound == pytest.approx(max(own))


@pytest.mark.parametrize("colocate", [(), (("count", "sink"),)])
def test_larger_numbers_are_not_tried_where_the_busiest_instance_has_one_key(
    colocate: tuple[tuple[str, ...], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From some number on, the larger of two keys is alone, and more instances change nothing."""
    tried, busiest = list[int](), Shares.busiest

    def noted(self: Shares, v: int, count: int) -> float:
        tried.append(count)
        return busiest(self, v, count)

    monkeypatch.setattr(Shares, "busiest", noted)
    graph = sp.StreamGraph(
        [
            sp.Operator("read", 1e3, 1.0),
            sp.Operator("count", 1e6, 1.0),
            sp.Operator("sink", 1.0, 0.0),
        ],
        [
            sp.Stream("read", "count", partitioning="hash", key_shares={"a": 0.6, "b": 0.4}),
            sp.Stream("count", "sink", partitioning="forward"),
        ],
        constraints=sp.Constraints(colocate=colocate),
    )
    found = size(graph, "9x1000", source_rate=1500.0, evaluations=100)
    assert found.parallelism["count"] == 2
    assert max(tried) < 20
    with pytest.raises(InfeasibleError, match=r"0\.6 of all tuples are of key 'a', 1,666\.67"):
        size(graph, "9x1000", source_rate=1800.0)
    assert max(tried) < 20


def test_keys_and_key_groups_add_up_by_instance() -> None:
    """The key goes to the second instance, and most of the groups to the first."""
    graph = sp.StreamGraph(
        [
            sp.Operator("a", 1.0, 1.0),
            sp.Operator("b", 1.0, 1.0),
            sp.Operator("j", 1.0, 1.0, partitions=3),
        ],
        [
            sp.Stream("a", "j", partitioning="hash", key_shares={"b": 1.0}),
            sp.Stream("b", "j", partitioning="hash"),
        ],
    )
    shares = Shares(graph, np.array([0.4, 0.6]))
    assert shares.busiest(graph.index["j"], 2) == pytest.approx(0.4 + 0.6 / 3)


@pytest.mark.parametrize("groups", [None, 997, 4096])
@pytest.mark.parametrize("kappa", [0.0, 1e-5, 0.1])
@pytest.mark.parametrize("least", [1, 7])
def test_the_lowest_load_is_that_of_all_numbers(
    groups: int | None, kappa: float, least: int
) -> None:
    most = groups or 3000
    assert most > EVERY

    def load(count: int) -> float:
        share = 1.0 / count if groups is None else -(-groups // count) / groups
        return 5.0 * (1 + 0.01 * (count - 1) + kappa * count * (count - 1)) * share

    every = min(map(load, range(least, most + 1)))
    assert lowest_load(load, least, most, groups) == pytest.approx(every)


def job(**count: Any) -> sp.StreamGraph:
    return sp.StreamGraph(
        [
            sp.Operator("read", 1e4, 10.0),
            sp.Operator("count", 1e6, **{"payload_bytes": 0.0} | count),
        ],
        [("read", "count")],
        source_rate=1e3,
    )


@pytest.mark.parametrize(
    "rules",
    [
        sp.Constraints(pins={"count[2]": "d1"}),
        sp.Constraints(allowed={"count[2]": ["d1"]}),
        sp.Constraints(colocate=[["read", "count[2]"]]),
        sp.Constraints(exlocate=[["count[0]", "count[2]"]]),
    ],
)
def test_constraints_on_single_instances_need_as_many_instances(rules: sp.Constraints) -> None:
    """One instance would carry the rate."""
    found = size(job(), "2x2500", constraints=rules, minimise="instances", evaluations=1_000)
    assert found.parallelism == {"read": 1, "count": 3}
    assert found.gap == 0.0
    assert found.placement is not None
    assert found.placement.problem.feasibility.violation(found.placement.devices) is None
    if rules.pins or rules.allowed:
        assert found.assignment["count[2]"] == "d1"


def test_a_first_instance_has_its_name_only_beside_a_second_one() -> None:
    rules = sp.Constraints(pins={"count[0]": "d1"})
    found = size(job(), "2x2500", constraints=rules, evaluations=1_000)
    assert found.parallelism["count"] == 2
    assert found.assignment["count[0]"] == "d1"


@pytest.mark.parametrize(
    ("limits", "rules", "message"),
    [
        (
            {"max_parallelism": 3},
            {"count[3]": "d1"},
            r"^constraints: unknown operator 'count\[3\]': 'count' has at most 3 instances",
        ),
        ({"parallelism": 2}, {"count[2]": "d1"}, r"unknown operator 'count\[2\]'"),
        ({}, {"cuont[2]": "d1"}, r"unknown operator 'cuont\[2\]'"),
        ({}, {"count[1]": "d9"}, "unknown device 'd9'"),
    ],
)
def test_instances_that_do_not_exist(
    limits: dict[str, Any], rules: dict[str, str], message: str
) -> None:
    with pytest.raises(ProblemError, match=message):
        size(job(**limits), "2x2500", constraints=sp.Constraints(pins=rules), evaluations=1_000)


def test_a_constraint_may_name_the_last_instance() -> None:
    """As many instances as it names are the least number, also where that is the largest one."""
    rules = sp.Constraints(pins={"count[2]": "d1"})
    found = size(job(max_parallelism=3), "2x2500", constraints=rules, evaluations=1_000)
    assert found.parallelism["count"] == 3


def test_numbers_between_those_tried_are_allowed_where_instances_are_even() -> None:
    some = Requirement("a", (2, 3, 8), (1.0, 0.7, 0.3), "", 1e4, 8, evenly=True, has_all=False)
    assert [some.allows(count) for count in (1, 2, 5, 8, 9)] == [False, True, True, True, False]
    uneven = replace(some, evenly=False)
    assert [uneven.allows(count) for count in (2, 5, 8)] == [True, False, True]
    assert replace(some, counts=(), loads=()).allows(5) is False


def test_thousands_of_instances_have_no_rules_of_their_own() -> None:
    rules = sp.Constraints(pins={"count[1]": "d1"})
    with pytest.raises(UsageError, match="does not support constraints on single instances"):
        size(job(), "400x2500x64", source_rate=3e7, constraints=rules)


def test_names_of_operators_and_of_instances() -> None:
    rules = sp.Constraints(
        pins={"count[4]": "d1", "read": "d0", "x[1]": "d1"},
        colocate=[["read", "count[7]", "count"], ["read", "count[1]"]],
    )
    assert named_instances(job(), rules) == {"count": (8, "count[7]")}
    ones = expanded(job(), {"read": 1, "count": 1})
    whole = sp.Constraints(pins={"read": "d0"}, colocate=[["read", "count"]])
    assert of_whole_operators(rules, ones) == whole


GROUP = ("read", "clean")


def colocated(read: dict[str, Any], clean: dict[str, Any], kind: str = "forward") -> sp.StreamGraph:
    """Return a job whose first two operators are colocated; `clean` needs 3 of 1,000 MIPS."""
    return sp.StreamGraph(
        [
            sp.Operator("read", 1e5, 0.0, **read),
            sp.Operator("clean", 2.5e6, 0.0, **clean),
            sp.Operator("out", 1e5, 0.0),
        ],
        [sp.Stream("read", "clean", partitioning=kind), sp.Stream("clean", "out")],
        source_rate=1000.0,
        constraints=sp.Constraints(colocate=[GROUP]),
    )


def numbers(
    graph: sp.StreamGraph, cluster: str = "6x1000", *, resize: bool = False
) -> tuple[int, ...]:
    found = sp.size(graph, cluster, minimise="instances", resize=resize, evaluations=500)
    return tuple(found.parallelism.values())


def test_the_operators_of_a_task_have_equal_numbers() -> None:
    """One task of Kafka Streams, or one chain of Flink, has one instance of each operator."""
    assert numbers(colocated({}, {})) == (3, 3, 1)
    assert numbers(colocated({"parallelism": 2}, {"parallelism": 2}), resize=True) == (3, 3, 1)


def test_a_stated_number_holds_for_the_task() -> None:
    assert numbers(colocated({"parallelism": 4}, {})) == (4, 4, 1)
    assert numbers(colocated({"min_parallelism": 5}, {"max_parallelism": 5})) == (5, 5, 1)


def test_limits_of_one_operator_limit_its_task() -> None:
    with pytest.raises(InfeasibleError, match=r"clean: max_parallelism 2, 800 tuples/s at most"):
        numbers(colocated({"partitions": 2}, {}))
    with pytest.raises(GraphError, match="'read', 'clean' are one task, but no number"):
        numbers(colocated({"max_parallelism": 2}, {"min_parallelism": 3}))


def test_scaling_may_leave_no_number_for_all() -> None:
    """`clean` needs 3 instances, with which those of `read` disturb each other too much."""
    graph = sp.StreamGraph(
        [
            sp.Operator("read", 9e5, 0.0, scaling={"kappa": 0.9}),
            sp.Operator("clean", 2.5e6, 0.0),
        ],
        [sp.Stream("read", "clean", partitioning="forward")],
        source_rate=1000.0,
        constraints=sp.Constraints(colocate=[GROUP]),
    )
    with pytest.raises(InfeasibleError, match="cannot keep up: "):
        numbers(graph)


def test_what_is_no_task_is_sized_freely() -> None:
    """Instances of operators with unequal numbers share one device, as before."""
    assert numbers(colocated({}, {}, kind="hash"), "1x1000x4") == (1, 3, 1)
    assert tasks_of(colocated({}, {}), [("read", "clean[1]")]) == []
    assert tasks_of(colocated({}, {}), [("read", "out")]) == []
    assert tasks_of(colocated({}, {}), [GROUP, ("out", "clean")]) == [[0, 1]]


def test_different_stated_numbers_are_kept() -> None:
    """All instances then share one device."""
    assert numbers(colocated({"parallelism": 1}, {"parallelism": 3}), "1x1000x4") == (1, 3, 1)


@given(
    st.floats(1, 1e6),
    st.floats(0, 0.3),
    st.floats(0, 0.01),
    st.sets(st.integers(1, 60), min_size=3, max_size=8),
)
def test_a_law_is_found_again(rate: float, sigma: float, kappa: float, counts: set[int]) -> None:
    law = Scaling({"sigma": sigma, "kappa": kappa})
    found = fit_scaling({p: rate * p / law.cost(p) for p in counts})
    assert found.largest_error < 1e-6
    for p in counts:
        expected = rate * p / law.cost(p)
        assert found.rate * p / found.scaling.cost(p) == pytest.approx(expected, rel=1e-5)


def test_coefficients_are_never_negative() -> None:
    """A rate that grows faster than the number has no law; a straight line comes closest."""
    found = fit_scaling({1: 100.0, 2: 210.0, 4: 440.0})
    assert dict(found.scaling) == {}
    assert 0.02 < found.largest_error < 0.1


@given(st.integers(1, 40), st.floats(0.5, 1.0), st.floats(0.01, 1.0), st.booleans(), st.data())
def test_steps_end_at_a_number_that_carries_the_target(
    start: int, power: float, share: float, is_noisy: bool, data: st.DataObject
) -> None:
    """Whatever the rates, if they grow with the number; at the least one under a power law."""
    rates, highest = dict[int, float](), 0.0
    for p in range(1, 41):
        noise = data.draw(st.floats(0.9, 1.0)) if is_noisy else 1.0
        highest = max(highest * 1.0001, p**power * noise)
        rates[p] = highest
    target = share * rates[40]
    measured, path = {start: rates[start]}, [start]
    while (count := next_count(measured, target, 1, 40)) != path[-1]:
        path.append(count)
        measured[count] = rates[count]
        assert len(path) <= 41, "it oscillates"
    assert rates[count] >= target * (1 - 1e-12)
    assert all(rate < target for p, rate in measured.items() if p < count)
    if not is_noisy and len(measured) > 2:
        assert count == min(p for p, rate in rates.items() if rate >= target * (1 - 1e-12))


def test_one_measurement_is_extrapolated_in_proportion() -> None:
    assert next_count({2: 100.0}, 380.0, 1, 20) == 8
    assert next_count({2: 100.0}, 380.0, 1, 5) == 5
    assert next_count({8: 500.0}, 380.0, 7, 20) == 7


@pytest.mark.parametrize("measured", [{}, {0: 1.0}, {1: 0.0}, {1: float("inf")}])
def test_measurements_that_are_refused(measured: dict[int, float]) -> None:
    functions = fit_scaling, lambda m: next_count(m, 1.0, 1, 2), lambda m: expected_rate(m, 2)
    for function in functions:
        with pytest.raises(UsageError, match="measured: must"):
            function(measured)


def test_the_expected_rate_grows_by_a_power_and_meets_what_was_measured() -> None:
    measured = {2: 100.0, 8: 200.0, 32: 400.0}  # the square root
    assert {p: expected_rate(measured, p) for p in measured} == pytest.approx(measured)
    assert expected_rate(measured, 4) == pytest.approx(100.0 * 2**0.5)
    assert expected_rate(measured, 128) == pytest.approx(800.0)
    assert expected_rate(measured, 1) == pytest.approx(100.0 / 2**0.5)
    assert expected_rate({2: 100.0}, 6) == pytest.approx(300.0)
    assert expected_rate({2: 100.0, 4: 90.0}, 8) == pytest.approx(90.0)  # no power below 0
    assert expected_rate({2: 100.0, 4: 300.0}, 8) == pytest.approx(600.0)  # nor above 1
    with pytest.raises(UsageError, match="count must be at least 1"):
        expected_rate(measured, 0)


def test_the_next_count_is_within_its_limits() -> None:
    assert next_count({1: 100.0}, target=10.0, least=2, most=8) == 2
    assert next_count({4: 1.0}, target=10.0, least=1, most=8) == 8
