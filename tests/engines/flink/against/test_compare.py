"""Predictions compared with the use of a job, from numbers that were made up."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from streamplace import Cluster, Device, Operator, Stream, StreamGraph
from streamplace.engines.flink.against.compare import compare
from streamplace.engines.flink.against.comparison import Against
from streamplace.errors import BackendError, ProblemError
from streamplace.formats.profiling.estimates import Estimate
from streamplace.formats.profiling.profile import (
    JobUse,
    OperatorProfile,
    Part,
    Profile,
    StreamProfile,
    Task,
)
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.throughput import simulate

GRAPH = StreamGraph(
    [Operator("src", 1e6, 100), Operator("decode", 4e6, 100), Operator("sink", 2e6, 0)],
    [Stream("src", "decode"), Stream("decode", "sink", 0.5)],
    source_rate=200,
)
CLUSTER = Cluster([Device("fast", 2000, cores=2), Device("slow", 500)])
RATE = 100.0
JOB_RATES = {"Source: src": RATE, "decode": RATE, "sink: Writer": RATE / 2}
PLACED = ("fast", "fast", "slow")
CHECKED = [1e6 * RATE / 2e9, 4e6 * RATE / 2e9, 2e6 * RATE / 2 / 5e8]


def placement(cluster: Cluster = CLUSTER, graph: StreamGraph = GRAPH) -> Placement:
    problem = Problem(graph, cluster, target_utilisation=0.8)
    return Placement.of(problem, dict(zip(graph.names, PLACED, strict=True)))


def task(name: str, cores: float, rate: float, parts: Mapping[str, Part], error: float) -> Task:
    seconds = Estimate(cores / rate, error * cores / rate)
    return Task((name,), Estimate(cores, error * cores), seconds, parts)


def job(
    costs: Mapping[str, float] | None = None,
    selectivity: float = 0.5,
    error: float = 0.01,
    hosts: tuple[str, ...] = PLACED,
    **fields: Any,
) -> JobUse:
    """Return the use of a job that runs the graph as placed.

    Parameters
    ----------
    costs
        Operator of the job -> factor by which it takes longer than in the graph.
    hosts
        Host of each operator.
    """
    factors = {**dict.fromkeys(JOB_RATES, 1.0), **(costs or {})}
    tasks = [
        task(name, cores * factors[name], JOB_RATES[name], {host: Part(1, 1.0, 1.0)}, error)
        for name, cores, host in zip(JOB_RATES, CHECKED, hosts, strict=True)
    ]
    nothing = Estimate.missing("not needed")
    operators = [
        OperatorProfile(name, Estimate(rate, 0.1), nothing, nothing)
        for name, rate in JOB_RATES.items()
    ]
    streams = [
        StreamProfile("Source: src", "decode", Estimate(1.0, 0.001), nothing),
        StreamProfile("decode", "sink: Writer", Estimate(selectivity, 0.001), nothing),
    ]
    logical = LogicalGraph(StreamGraph([Operator(name, 0, 0) for name in JOB_RATES]))
    profile = Profile(logical, Estimate(RATE, 0.1), operators, streams, 10, 60.0)
    on = {name: (host,) for name, host in zip(JOB_RATES, hosts, strict=True)}
    return JobUse(profile, tuple(tasks), on, **fields)


def off(found: Against) -> list[tuple[str, str | None, Any]]:
    return [(each.kind, each.name, each.ratio) for each in found.off]


def test_a_job_that_runs_as_predicted() -> None:
    found = compare(placement(), job())
    assert found.off == ()
    assert found.notes == ()
    assert (found.source_rate.value, found.placed_rate) == (100, 200)
    devices: Any = {each.name: (each.predicted, each.measured) for each in found.devices}
    assert devices["fast"] == (pytest.approx(0.125), pytest.approx(0.125))
    assert devices["slow"] == (pytest.approx(0.2), pytest.approx(0.2))
    rows = {each.name: each for each in found.operators}
    assert list(rows) == ["src", "decode", "sink"]
    assert [each.predicted for each in rows.values()] == pytest.approx(CHECKED)
    assert [each.ratio for each in rows.values()] == pytest.approx([1, 1, 1])
    assert rows["sink"].instructions.value == pytest.approx(2e6)
    assert rows["sink"].predicted_rate == pytest.approx(50)


def test_predictions_at_the_rate_of_the_placement_are_those_of_its_score() -> None:
    """At twice the rate, every load doubles; the score is at the placement's own rate."""
    found = compare(placement(), job())
    scored = {device.name: device.utilisation for device in simulate(placement()).devices}
    for each in found.devices:
        assert 2 * each.predicted == pytest.approx(scored[each.name])


def test_the_wrong_cost_is_named() -> None:
    found = compare(placement(), job({"decode": 2.3}))
    assert off(found) == [("instructions", "decode", pytest.approx(2.3))]
    wrong: Any = found.off[0]
    assert (wrong.graph, wrong.measured) == (4e6, pytest.approx(9.2e6))
    assert "at 2,000 MIPS" in wrong.line().text
    entry = found.to_dict()
    assert entry["off"][0] == {
        "kind": "instructions",
        "name": "decode",
        "graph": 4e6,
        "measured": pytest.approx(9.2e6),
        "ratio": pytest.approx(2.3),
        "mips": 2000,
    }
    assert entry["devices"][0]["measured"] == pytest.approx((0.05 + 0.2 * 2.3) / 2)


def test_the_largest_difference_comes_first() -> None:
    found = compare(placement(), job({"decode": 2.0, "sink: Writer": 0.2}, selectivity=0.25))
    assert [name for _, name, _ in off(found)] == ["sink", "decode", "decode -> sink"]


def test_a_wrong_cost_within_the_noise() -> None:
    assert compare(placement(), job({"decode": 2.3}, error=0.4)).off == ()


def test_a_wrong_speed() -> None:
    slow = job({"Source: src": 2.0, "decode": 2.0})
    assert off(compare(placement(), slow)) == [("mips", "fast", pytest.approx(0.5))]
    assert compare(placement(), slow).off[0].measured == pytest.approx(1000)
    every = job(dict.fromkeys(JOB_RATES, 1.5))
    found = compare(placement(), every).off[0]
    assert (found.kind, found.name, found.graph) == ("mips", None, None)
    assert found.ratio == pytest.approx(1 / 1.5)


def test_a_wrong_cost_on_cores_of_another_speed() -> None:
    """Instructions refer to the speed that was found, so that both corrections hold together."""
    names = [f"o{i}" for i in range(5)]
    graph = StreamGraph([Operator(name, 1e6, 0) for name in names], source_rate=500)
    placed = Placement(Problem(graph, Cluster.equal(5, 1000)), range(5))
    factors = dict.fromkeys(names, 1.5) | {"o2": 1.5 * 2.3}
    tasks = [
        task(name, 0.1 * factors[name], 100, {f"d{i}": Part(1, 1.0, 1.0)}, 0.01)
        for i, name in enumerate(names)
    ]
    nothing = Estimate.missing("not needed")
    rows = [OperatorProfile(name, Estimate(100.0, 0.1), nothing, nothing) for name in names]
    profile = Profile(LogicalGraph(graph), Estimate(500.0, 0.1), rows, [], 10, 60.0)
    hosts = {name: (f"d{i}",) for i, name in enumerate(names)}
    found = compare(placed, JobUse(profile, tuple(tasks), hosts))
    assert off(found) == [
        ("instructions", "o2", pytest.approx(2.3)),
        ("mips", None, pytest.approx(1 / 1.5)),
    ]
    assert found.off[0].measured == pytest.approx(2.3e6)
    assert found.off[0].mips == found.off[1].measured == pytest.approx(1000 / 1.5)


def test_a_wrong_selectivity() -> None:
    found = compare(placement(), job(selectivity=0.25))
    assert off(found) == [("selectivity", "decode -> sink", pytest.approx(0.5))]


def test_an_operator_without_cost_in_the_graph() -> None:
    free = GRAPH.with_numbers(instructions=[1e6, 0, 2e6])[0]
    found = compare(placement(graph=free), job())
    assert off(found) == [("instructions", "decode", None)]
    assert found.off[0].measured == pytest.approx(4e6)


def test_a_chain_is_compared_as_a_whole() -> None:
    whole = job()
    first, last = whole.tasks[1:]
    busy = sum(each.busy.value or 0.0 for each in (first, last))
    chain = Task(
        ("decode", "sink: Writer"),
        Estimate(busy, 0.001),
        Estimate(2.0 * (4e6 + 0.5 * 2e6) / 2e9, 1e-6),
        {"fast": Part(1, 1.0, 1.0)},
    )
    chained = replace(whole, tasks=(whole.tasks[0], chain))
    found = compare(placement(), chained)
    rows = {each.name: each for each in found.operators}
    assert rows["decode -> sink"].predicted == pytest.approx(CHECKED[1] + CHECKED[2])
    assert rows["decode -> sink"].graph_instructions == pytest.approx(5e6)
    assert off(found) == [("instructions", "decode -> sink", pytest.approx(2.0))]


def test_instances_on_devices_of_different_speeds() -> None:
    """A slow core takes longer for a tuple; that is no wrong cost."""
    graph = StreamGraph(
        [
            Operator("src", 1e6, 1),
            *(Operator(f"d[{i}]", 4e6, 1, instance_of="d") for i in range(2)),
        ],
        [Stream("src", "d[0]", 0.5), Stream("src", "d[1]", 0.5)],
        source_rate=200,
    )
    problem = Problem(graph, CLUSTER)
    placed = Placement.of(problem, {"src": "fast", "d[0]": "fast", "d[1]": "slow"})
    nothing = Estimate.missing("not needed")
    on_fast, on_slow = 4e6 * 50 / 2e9, 4e6 * 50 / 5e8
    busy = on_fast + on_slow
    parts = {"fast": Part(1, on_fast / busy, 0.5), "slow": Part(1, on_slow / busy, 0.5)}
    one = task("src", 0.05, 100, {"fast": Part(1, 1.0, 1.0)}, 0.01)
    two = task("d", busy, 100, parts, 0.01)
    logical = LogicalGraph(StreamGraph([Operator(name, 0, 0) for name in ("src", "d")]))
    rows = [OperatorProfile(n, Estimate(100.0, 0.1), nothing, nothing) for n in ("src", "d")]
    stream = StreamProfile("src", "d", Estimate(1.0, 0.001), nothing)
    profile = Profile(logical, Estimate(100.0, 0.1), rows, [stream], 10, 60.0)
    use = JobUse(profile, (one, two), {"src": ("fast",), "d": ("fast", "slow")})
    found = compare(placed, use)
    assert (len(found.off), len(found.notes)) == (0, 0)
    assert found.operators[1].instructions.value == pytest.approx(4e6)
    assert [each.measured for each in found.devices] == pytest.approx([(0.05 + 0.1) / 2, 0.4])


def test_task_managers_are_matched_by_label_then_name_then_operators() -> None:
    by_label = job(hosts=("tm1", "tm1", "tm2"), labelled={"fast": "tm1", "slow": "tm2"})
    assert compare(placement(), by_label).notes == ()
    by_operators = compare(placement(), job(hosts=("tm1", "tm1", "tm2")))
    assert by_operators.notes == (
        "TaskManagers matched to devices by the operators that they run: "
        "'tm1' is 'fast', 'tm2' is 'slow'",
    )
    assert [each.task_manager for each in by_operators.devices] == ["tm1", "tm2"]
    swapped = compare(placement(), job(hosts=("slow", "slow", "fast")))
    assert "not running where they were placed: 'src', 'decode', 'sink'" in swapped.notes


def test_an_idle_device_uses_nothing() -> None:
    cluster = Cluster([*CLUSTER.devices, Device("idle", 1), Device("absent", 1)])
    found = compare(placement(cluster), job(idle_hosts=("idle",)))
    assert [each.measured for each in found.devices[2:]] == [0.0, None]


def test_a_task_manager_without_a_device() -> None:
    extra = replace(job(), tasks=(*job().tasks, task("other", 0.1, 1, {"tm9": Part(1, 1, 1)}, 0.1)))
    notes = compare(placement(), extra).notes
    assert "no device stands for the TaskManagers 'tm9'" in notes


def test_operators_that_only_one_side_has() -> None:
    graph = StreamGraph(
        [*GRAPH.operators, Operator("gone", 1, 1)], [*GRAPH.streams, Stream("decode", "gone")],
        source_rate=200,
    )  # fmt: skip
    problem = Problem(graph, CLUSTER)
    placed = Placement.of(problem, {**dict(zip(GRAPH.names, PLACED, strict=True)), "gone": "slow"})
    whole = job()
    more = OperatorProfile("new", Estimate(1.0), Estimate(None), Estimate(None))
    profile = replace(whole.profile, operators=[*whole.profile.operators, more])
    found = compare(placed, replace(whole, profile=profile))
    assert found.unmatched_operators == ("gone",)
    assert found.unmatched_in_job == ("new",)
    assert "the job lacks operators of the placement: 'gone'" in found.notes
    assert "the placement lacks operators of the job: 'new'" in found.notes
    assert found.to_dict()["unmatched"] == {"placement": ["gone"], "job": ["new"]}


def test_nothing_matches() -> None:
    graph = StreamGraph([Operator("x", 1, 1)], source_rate=1)
    other = Placement(Problem(graph, CLUSTER), [0])
    with pytest.raises(ProblemError, match="none of the operators 'x'; it has 'Source: src', "):
        compare(other, job())


def test_a_source_rate_that_was_not_measured() -> None:
    whole = job()
    rows = [replace(each, rate=Estimate.missing("no")) for each in whole.profile.operators]
    profile = replace(whole.profile, operators=rows, source_rate=Estimate.missing("too few"))
    with pytest.raises(BackendError, match="the source rate was not measured: too few"):
        compare(placement(), replace(whole, profile=profile))


def test_several_sources_at_other_shares() -> None:
    graph = StreamGraph(
        [Operator("a", 1e6, 1), Operator("b", 2e6, 1)],
        source_rate=100,
        source_shares={"a": 0.5, "b": 0.5},
    )
    placed = Placement.of(Problem(graph, CLUSTER), {"a": "fast", "b": "slow"})
    nothing = Estimate.missing("not needed")
    rates = {"a": 30.0, "b": 10.0}
    tasks = (
        task("a", 30 * 1e6 / 2e9, 30, {"fast": Part(1, 1.0, 1.0)}, 0.01),
        task("b", 10 * 2e6 / 5e8, 10, {"slow": Part(1, 1.0, 1.0)}, 0.01),
    )
    rows = [OperatorProfile(n, Estimate(r, 0.1), nothing, nothing) for n, r in rates.items()]
    profile = Profile(LogicalGraph(graph), Estimate(40.0, 0.1), rows, [], 10, 60.0)
    found = compare(placed, JobUse(profile, tasks, {"a": ("fast",), "b": ("slow",)}))
    assert [each.ratio for each in found.operators] == pytest.approx([1, 1])
    assert off(found) == [("source_share", "b", 0.5), ("source_share", "a", 1.5)]


def test_few_readings_are_not_judged() -> None:
    whole = job({"decode": 2.3})
    tasks = tuple(
        replace(each, seconds_per_tuple=Estimate(each.seconds_per_tuple.value))
        for each in whole.tasks
    )
    found = compare(placement(), replace(whole, tasks=tasks))
    assert found.off == ()
    assert any("too few readings for their noise" in note for note in found.notes)
