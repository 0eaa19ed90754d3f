"""Plans by sizing, compared with DS2 by hand and with `size` itself."""

from dataclasses import replace
from math import ceil, nan
from random import Random
from typing import Any

import pytest

import streamplace as sp
from streamplace.capacity.size import size
from streamplace.control.choice import more_or_less
from streamplace.control.decisions import Action
from streamplace.control.history import History
from streamplace.control.observation import Observation
from streamplace.control.planning import SizePlanner
from streamplace.control.plans import Plan
from streamplace.control.settings import ControllerSettings
from streamplace.errors import UsageError
from streamplace.problem.counts import expanded
from tests.support.control import measured

SETTINGS = ControllerSettings()
SECONDS = {"read": 1e-4, "decode": 1e-3, "count": 4e-4}  # busy per tuple, at 1,000 MIPS
HOSTS = {"read": ("d0",), "decode": ("d1",), "count": ("d2",)}


def job(**of_decode: Any) -> sp.StreamGraph:
    """Return a chain in which each tuple of decode makes two of count."""
    operators = [
        sp.Operator(name, seconds * 1e9, 0.0, **(of_decode if name == "decode" else {}))
        for name, seconds in SECONDS.items()
    ]
    return sp.StreamGraph(
        operators, [sp.Stream("read", "decode"), sp.Stream("decode", "count", 2.0)]
    )


def machines(count: int = 4, cores: int = 4, **others: Any) -> sp.Cluster:
    return sp.Cluster([sp.Device(f"d{i}", 1000.0, cores=cores, **others) for i in range(count)])


def plan_of(
    rate_s: float,
    observation: Observation | None = None,
    graph: sp.StreamGraph | None = None,
    cluster: sp.Cluster | None = None,
    settings: ControllerSettings = SETTINGS,
) -> Plan | str:
    cluster = cluster or machines()
    window = observation or measured(job(), cluster, HOSTS, 500.0)
    return SizePlanner(graph or job(), cluster, settings)(window, rate_s, 10.0)


def known(plan: Plan | str) -> Plan:
    assert isinstance(plan, Plan), plan
    return plan


@pytest.mark.parametrize("rate_s", [100.0, 700.0, 1500.0, 3000.0])
def test_numbers_are_those_of_ds2(rate_s: float) -> None:
    wrong = replace_costs(job(), 17.0)  # of the graph's numbers, only the shape counts
    plan = known(plan_of(rate_s, graph=wrong, cluster=machines(8, 16)))
    tuples = {"read": 1.0, "decode": 1.0, "count": 2.0}
    assert plan.deployment.parallelism == {
        name: ceil(rate_s * tuples[name] * seconds / 0.7 - 1e-9)
        for name, seconds in SECONDS.items()
    }
    assert plan.rate_s == rate_s
    assert plan.carries_s >= rate_s / 0.7 * (1 - 1e-9)
    assert plan.now_carries_s == pytest.approx(1000.0), "a core's worth of decode"


def replace_costs(graph: sp.StreamGraph, factor: float) -> sp.StreamGraph:
    return graph.with_numbers(instructions=graph.instructions * factor)[0]


def test_instances_that_compete_for_cores_are_counted() -> None:
    """1.9 cores are busy at 1,000 tuples/s, so two cores carry 1,052 and not 2,000."""
    both = {"read": ("d0",), "decode": ("d0", "d0"), "count": ("d0",)}
    few = machines(3, cores=2)
    window = measured(job(), few, both, 1000.0)
    plan = known(plan_of(1000.0, window, cluster=few))
    assert plan.now_carries_s == pytest.approx(1000.0 * 2.0 / 1.9)
    assert (plan.now_price_s, plan.price_s) == (1.0, 2.0)
    assert plan.carries_s >= 1000.0 / 0.7 * (1 - 1e-9)


def test_plans_are_those_of_size() -> None:
    for seed in range(6):
        rng = Random(seed)
        cluster = sp.Cluster(
            [
                sp.Device(f"d{i}", rng.choice([800.0, 1000.0]), cores=rng.randint(1, 3))
                for i in range(5)
            ]
        )
        window = measured(job(), cluster, HOSTS, 500.0)
        rate = rng.uniform(300.0, 2000.0)
        plan = known(plan_of(rate, window, cluster=cluster))
        sized = size(
            job(), cluster, source_rate=rate, target_utilisation=0.7, resize=True, evaluations=500
        )
        assert len(plan.deployment.devices) == sized.machines
        graph = expanded(job(), plan.deployment.parallelism)
        on = {
            name if len(hosts) == 1 else f"{name}[{i}]": device
            for name, hosts in plan.deployment.hosts.items()
            for i, device in enumerate(hosts)
        }
        problem = sp.Problem(graph, cluster, source_rate=1e6)
        score = sp.simulate(sp.Placement.of(problem, on))
        assert plan.carries_s == pytest.approx(score.throughput)


def test_a_plan_that_runs_is_planned_again() -> None:
    """At the same rate, the second plan has the numbers of the first one: DS2 settles."""
    for seed in range(6):
        rate = Random(seed).uniform(300.0, 3000.0)
        first = known(plan_of(rate)).deployment
        window = measured(job(), machines(), first.hosts, rate)
        assert known(plan_of(rate, window)).deployment.parallelism == first.parallelism


def test_no_operator_loses_more_than_half() -> None:
    many = {"read": ("d0",) * 4, "decode": ("d1",) * 5, "count": ("d2",) * 2}
    cluster = machines(4, 16)
    plan = known(plan_of(1.0, measured(job(), cluster, many, 100.0), cluster=cluster))
    assert plan.deployment.parallelism == {"read": 2, "decode": 3, "count": 1}
    ten = {**many, "read": ("d0",) * 10}
    window = measured(job(), cluster, ten, 100.0)
    plan = known(
        plan_of(1.0, window, cluster=cluster, settings=ControllerSettings(most_scale_down=0.7))
    )
    assert plan.deployment.parallelism["read"] == 3, "(1 - 0.7) * 10 is a little above 3"
    settings = ControllerSettings(most_scale_down=0.25)
    window = measured(job(), cluster, many, 100.0)
    plan = known(plan_of(1.0, window, cluster=cluster, settings=settings))
    assert plan.deployment.parallelism == {"read": 3, "decode": 4, "count": 2}


@pytest.mark.parametrize("running", [1, 4])
def test_what_gets_no_tuples_keeps_its_instances_and_blocks_nothing(running: int) -> None:
    """Its cost is unknown, and no window measures it; without tuples it is no load."""
    graph = job()
    rejected = sp.Operator("rejected", nan, 0.0)
    guess, truth = (
        sp.StreamGraph(
            [*graph.operators, operator],
            [*graph.streams, sp.Stream("decode", "rejected", selectivity)],
        )
        for operator, selectivity in ((rejected, 1.0), (sp.Operator("rejected", 0.0, 0.0), 0.0))
    )
    hosts = {**HOSTS, "rejected": ("d3",) * running}
    window = measured(truth, machines(), hosts, 500.0)
    assert window.idle == ["rejected"]
    plan, without = known(plan_of(1500.0, window, guess)), known(plan_of(1500.0))
    assert plan.deployment.parallelism == {**without.deployment.parallelism, "rejected": running}
    assert plan.now_carries_s == pytest.approx(without.now_carries_s)


@pytest.mark.parametrize("cost", [nan, 1e5])
@pytest.mark.parametrize("partitions", [None, 2, 8])
def test_a_source_without_busy_time_is_kept_and_the_rest_planned(
    cost: float, partitions: int | None
) -> None:
    """Its cost is that of the graph, or 0 if that is unknown; idle instances are kept, too."""
    read = sp.Operator("read", cost, 0.0, partitions=partitions)
    others = [sp.Operator("decode", 1e6, 0.0), sp.Operator("count", 4e5, 0.0)]
    graph = sp.StreamGraph([read, *others], job().streams)
    hosts = {**HOSTS, "read": ("d0",) * 4}
    window = measured(job(), machines(8, 16), hosts, 500.0)
    silent = replace(window.readings["read"], busy=0.0, busiest=0.0)
    readings = {**window.readings, "read": silent}
    window = replace(window, readings=readings, not_timed={"read": "busy time"})
    plan = known(plan_of(3000.0, window, graph=graph, cluster=machines(8, 16)))
    assert plan.deployment.parallelism == {"read": 4, "decode": 5, "count": 4}


def test_limits_of_the_graph_hold() -> None:
    plan = known(plan_of(100.0, graph=job(min_parallelism=3)))
    assert plan.deployment.parallelism["decode"] == 3
    reason = plan_of(5000.0, graph=job(max_parallelism=2))
    assert isinstance(reason, str)
    assert "decode: max_parallelism 2, 2,000 tuples/s at most" in reason


def test_devices_that_are_gone_are_not_used() -> None:
    window = measured(job(), machines(), HOSTS, 500.0, devices=frozenset({"d1", "d3", "x"}))
    window = replace(window, hosts=dict.fromkeys(HOSTS, ("d1",)))
    plan = known(plan_of(3000.0, window))
    assert plan.deployment.devices == {"d1", "d3"}


def test_few_devices_are_filled_above_the_target() -> None:
    """1.9 ms per tuple on 4 cores: 2,105 tuples/s at most, 1,473 at the target."""
    one = machines(1)
    hosts = dict.fromkeys(HOSTS, ("d0",))
    for rate, utilisation in ((1400.0, 0.7), (1700.0, 0.85), (2000.0, 1.0)):
        plan = known(plan_of(rate, measured(job(), one, hosts, 500.0), cluster=one))
        assert plan.carries_s >= rate / utilisation * (1 - 1e-9)
        assert plan.carries_s <= 4 / 1.9e-3 * (1 + 1e-9)
    reason = plan_of(2200.0, measured(job(), one, hosts, 500.0), cluster=one)
    assert isinstance(reason, str)
    assert "2,105.27 of 2,200 tuples/s at most; add devices" in reason


@pytest.mark.parametrize(
    ("rate_s", "wanted", "utilisation"), [(2000.0, 3, 0.7), (2500.0, 4, 0.85), (2900.0, 5, 1.0)]
)
def test_few_slots_are_filled_above_the_target(
    rate_s: float, wanted: int, utilisation: float
) -> None:
    """Decode carries 1,000 tuples/s in each of three slots, two of which are free."""
    hosts = dict.fromkeys(HOSTS, ("d0",))
    window = measured(job(), machines(3), hosts, 500.0)
    assert known(plan_of(rate_s, window)).deployment.parallelism["decode"] == wanted
    plan = known(plan_of(rate_s, replace(window, free_slots=2)))
    assert plan.deployment.parallelism["decode"] == 3
    assert plan.carries_s >= rate_s / utilisation * (1 - 1e-9)


def test_a_rate_that_the_slots_do_not_carry_has_no_plan() -> None:
    window = measured(job(), machines(3), dict.fromkeys(HOSTS, ("d0",)), 500.0, free_slots=2)
    reason = plan_of(3100.0, window)
    assert isinstance(reason, str)
    assert reason == (
        "cannot keep up: decode: slots for 3 instances, 3,000 tuples/s at most; 5 slots would be "
        "enough"
    )


@pytest.mark.parametrize(
    ("cluster", "changes", "most_s", "fault"),
    [
        (
            machines(1),
            {},
            4 / 1.9e-3,
            "1 device cannot keep up: together they carry 2,105.27 of",
        ),
        (machines(8), {"free_slots": 2}, 3000.0, "; 8 slots would be enough"),
    ],
)
def test_where_no_plan_carries_all_most_is_carried_within_the_limits(
    cluster: sp.Cluster, changes: dict[str, Any], most_s: float, fault: str
) -> None:
    """An instance of decode carries 1,000 of 5,000 tuples/s, and 1.9 ms of a core carry a tuple."""
    window = measured(job(), cluster, dict.fromkeys(HOSTS, ("d0",)), 1000.0, **changes)
    window = replace(window, offered_s=5000.0, read_s=1000.0)
    history = History(SETTINGS)
    history.add(window)
    choice = more_or_less(window, history, SizePlanner(job(), cluster, SETTINGS), 60.0, SETTINGS)
    assert choice.action is Action.ACT
    assert not choice.is_enough
    assert choice.plan is not None
    assert 0.95 * most_s <= choice.plan.carries_s <= most_s * (1 + 1e-9)
    assert fault in choice.reason


@pytest.mark.parametrize("times", [20.4, 100.0, 1000.0])
@pytest.mark.parametrize("served_s", [1000.0, 0.0])
def test_a_job_overloaded_many_times_gets_what_its_devices_carry(
    times: float, served_s: float
) -> None:
    """1.9 ms of four cores carry a tuple, which is 2,105 tuples/s."""
    cluster, most_s = machines(1), 4 / 1.9e-3
    window = measured(job(), cluster, dict.fromkeys(HOSTS, ("d0",)), 1000.0)
    window = replace(window, offered_s=times * most_s, read_s=served_s)
    history = History(SETTINGS)
    history.add(window)
    choice = more_or_less(window, history, SizePlanner(job(), cluster, SETTINGS), 60.0, SETTINGS)
    assert choice.plan is not None, choice.reason
    assert 0.95 * most_s <= choice.plan.carries_s <= most_s * (1 + 1e-9)
    assert not choice.is_enough


def test_prices_are_those_of_the_devices_or_the_rules() -> None:
    cheap = [sp.Device(f"d{i}", 1000.0, cores=4, price=price) for i, price in enumerate([5.0, 1.0])]
    cluster = sp.Cluster([*cheap, sp.Device("d2", 1000.0, cores=4)])
    settings = ControllerSettings(machine_price=3.0)
    window = measured(job(), cluster, HOSTS, 500.0)
    plan = known(plan_of(500.0, window, cluster=cluster, settings=settings))
    assert plan.deployment.devices == {"d1"}
    assert (plan.price_s, plan.now_price_s) == (1.0, 9.0)
    free = known(
        plan_of(500.0, window, cluster=machines(3), settings=ControllerSettings(machine_price=0.0))
    )
    assert (len(free.deployment.devices), free.price_s) == (1, 0.0)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"hosts": {**HOSTS, "decode": ()}}, "operators of which no instance runs: 'decode'"),
        ({"readings": {}}, "operators without measurements: 'count', 'decode', 'read'"),
        ({"hosts": {**HOSTS, "sink": ("d0",)}}, "operators that the graph lacks: 'sink'"),
        ({"hosts": {**HOSTS, "read": ("tm-7",)}}, "devices that the cluster lacks: 'tm-7'"),
        ({"devices": frozenset()}, "all devices of the cluster are gone"),
    ],
)
def test_a_job_that_does_not_fit_has_no_plan(changes: dict[str, Any], part: str) -> None:
    window = replace(measured(job(), machines(), HOSTS, 500.0), **changes)
    reason = plan_of(500.0, window)
    assert isinstance(reason, str)
    assert part in reason
    assert len(reason.splitlines()) == 1


@pytest.mark.parametrize(
    ("constraints", "part"),
    [
        (sp.Constraints({"decode": "d0"}), "'decode' is pinned to 'd0', which is gone"),
        (sp.Constraints(allowed={"decode": ["d0"]}), "'decode' may only run on 'd0', and all"),
    ],
)
def test_rules_that_need_a_lost_device_are_named(constraints: sp.Constraints, part: str) -> None:
    graph = sp.StreamGraph(job().operators, job().streams, constraints=constraints)
    present = frozenset({"d1", "d2", "d3"})
    window = measured(job(), machines(), {**HOSTS, "read": ("d3",)}, 500.0, devices=present)
    reason = plan_of(500.0, window, graph=graph)
    assert isinstance(reason, str)
    assert part in reason
    wider = sp.Constraints(allowed={"decode": ["d0", "d3"]})
    graph = sp.StreamGraph(job().operators, job().streams, constraints=wider)
    plan = known(plan_of(500.0, window, graph=graph))
    assert {*plan.deployment.hosts["decode"]} == {"d3"}


def test_the_order_of_mappings_does_not_matter() -> None:
    window = measured(job(), machines(), HOSTS, 500.0)
    turned = replace(
        window,
        readings=dict(reversed([*window.readings.items()])),
        hosts=dict(reversed([*window.hosts.items()])),
    )
    assert plan_of(1500.0, window) == plan_of(1500.0, turned)


def test_graphs_of_instances_are_refused() -> None:
    instances = expanded(job(), {"decode": 2})
    with pytest.raises(UsageError, match="the graph has single instances"):
        SizePlanner(instances, machines(), SETTINGS)
