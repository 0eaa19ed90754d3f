"""The plain engine of makespans: the golden cases, and what holds for every problem."""

import gzip
import json
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest

from benchmarks.reference.plain_schedule import PlainSchedule, plain_schedule
from benchmarks.reference.schedule_inputs import ScheduleInputs
from benchmarks.reference.schedule_problems import ScheduleForm, schedule_problem
from tests.support.released_data import SHARED
from tests.support.schedule_comparison import is_exact

GOLDEN = SHARED / "makespan" / "golden.jsonl"
SEEDS = range(250)
Interval = tuple[Fraction, Fraction, int]  # from, to, cores


@cache
def solved() -> list[tuple[ScheduleForm, ScheduleInputs, PlainSchedule]]:
    """Return random problems, some of them large, and their schedules."""
    problems = [schedule_problem(seed, large=seed % 25 == 0) for seed in SEEDS]
    return [(each, ScheduleInputs(**each), plain_schedule(**each)) for each in problems]


def test_golden_cases() -> None:
    if not GOLDEN.exists():
        pytest.skip("the golden cases are not in ../shared")
    cases = [json.loads(line) for line in GOLDEN.read_text().splitlines()]
    assert len(cases) == 24
    for case in cases:
        forms = (case[name] for name in ("graph", "cluster", "settings", "placement"))
        schedule, expected = plain_schedule(*forms), case["expected"]
        assert schedule.start == expected["start_s"], case["name"]
        assert schedule.finish == expected["finish_s"], case["name"]
        assert schedule.makespan == expected["makespan_s"], case["name"]


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["giph-single", "giph-several"])
def test_known_makespans_of_giph_problems(name: str, step: int) -> None:
    """Under fifo on free links; numbers are not exact in binary there."""
    path = SHARED / "makespan" / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip("the GiPH problems are not in ../shared")
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    assert len(rows) == 30
    for row in rows[::step]:
        for placement, makespan in (("best_placement", "optimum"), ("heft_placement", "heft")):
            devices = row["reference"][placement]
            schedule = plain_schedule(row["graph"], row["cluster"], row["settings"], devices)
            expected = pytest.approx(row["reference"][makespan], rel=1e-9)
            assert float(schedule.makespan) == expected, row["name"]


def test_random_problems_are_exact_in_binary() -> None:
    for seed in SEEDS:
        assert is_exact(schedule_problem(seed)), seed
        assert seed % 10 or is_exact(schedule_problem(seed, large=True)), seed


def test_random_problems_use_every_option() -> None:
    problems = [schedule_problem(seed) for seed in range(400)]
    graphs, clusters = [p["graph"] for p in problems], [p["cluster"] for p in problems]
    operators = [o for graph in graphs for o in graph["operators"]]
    streams = [s for graph in graphs for s in graph["streams"]]
    devices = [d for cluster in clusters for d in cluster["devices"]]
    networks = [cluster["network"] for cluster in clusters]
    settings = [p["settings"] for p in problems]
    assert {len(graph["operators"]) for graph in graphs} == set(range(1, 15))
    assert {len(cluster["devices"]) for cluster in clusters} == set(range(1, 6))
    assert {g["firing"] for g in graphs} == {"each", "all"}
    assert {g["multicast"] for g in graphs} == {"none", "device", "all"}
    assert {n["kind"] for n in networks} == {"free", "egress", "pair", "nic"}
    assert {s["order"] for s in settings} == {"fifo", "b-level", "topological", "sequence"}
    for flag in ("barrier", "inputs_everywhere"):
        assert {s[flag] for s in settings} == {False, True}
    assert {o.get("cores", 1) for o in operators} == {1, 2, 3, 4, 8}
    assert any("requires" in o for o in operators)
    assert any(None in o.get("seconds_on", {}).values() for o in operators)
    assert {s.get("selectivity", 1) for s in streams} == {0, 0.5, 1, 2}
    for key in ("kind", "cores", "startup_s", "overhead_s_per_byte"):
        assert any(key in d for d in devices), key
    overrides = [o for n in networks for o in n.get("overrides", ())]
    for key in ("from", "to", "bandwidth_mbps", "latency_s", "overhead_s", "gap_s"):
        assert any(key in o for o in overrides), key
    assert any(n["bandwidth_mbps"] is None for n in networks)
    pairs = [[(s["source"], s["target"]) for s in graph["streams"]] for graph in graphs]
    assert any(len(set(some)) < len(some) for some in pairs), "no parallel streams"


def test_no_device_runs_more_cores_than_it_has() -> None:
    for problem, inputs, schedule in solved():
        for d, intervals in enumerate(occupied(problem, inputs, schedule)):
            cores = problem["cluster"]["devices"][d].get("cores", 1)
            assert all(held(intervals, begin) <= cores for begin, _, _ in intervals), problem


def test_operators_start_after_their_inputs_and_the_messages_on_the_way() -> None:
    for problem, inputs, schedule in solved():
        after = [Fraction(0)] * len(inputs.operators)  # the longest way from here to an end
        for v in reversed(inputs.order):
            for e in inputs.outputs[v]:
                u, transfer = inputs.streams[e].target, least_transfer(inputs, e)
                begin, end = schedule.start[inputs.names[u]], schedule.finish[inputs.names[v]]
                assert begin >= end + transfer, problem
                after[v] = max(after[v], transfer + after[u])
            after[v] += inputs.seconds(v, inputs.place[v]) or 0
        assert schedule.makespan >= max(after), problem


def test_devices_with_one_core_never_idle_while_an_operator_is_runnable() -> None:
    """A device with several cores lacks cores for at least one of those that wait."""
    waits = 0
    for problem, inputs, schedule in solved():
        settings = problem["settings"]
        if settings["order"] == "sequence" or settings["barrier"]:
            continue
        taken = occupied(problem, inputs, schedule)
        moments = {end for intervals in taken for _, end, _ in intervals}
        moments |= {time for times in (schedule.start, schedule.finish) for time in times.values()}
        runnable = runnable_moments(inputs, schedule)
        for d, device in enumerate(problem["cluster"]["devices"]):
            on = [v for v, place in enumerate(inputs.place) if place == d]
            for now in moments:
                waiting = [v for v in on if runnable[v] <= now < schedule.start[inputs.names[v]]]
                free = device.get("cores", 1) - held(taken[d], now)
                assert not waiting or free < max(inputs.cores(v, d) for v in waiting), problem
                waits += bool(waiting)
    assert waits > 500


def test_messages_on_a_channel_do_not_overlap_and_go_by_the_moment_they_may_start() -> None:
    queued = 0
    for problem, _, schedule in solved():
        if (kind := problem["cluster"]["network"]["kind"]) == "free":
            continue
        on_channel: dict[tuple[str, ...], list[tuple[Fraction, ...]]] = {}
        for one in schedule.messages:
            sender = problem["placement"][one.source]
            for d in one.arrival:
                channel = (sender, d) if kind == "pair" else (sender,)
                times = (one.start, one.channel_free, one.ready)
                if times not in (entries := on_channel.setdefault(channel, [])):
                    entries.append(times)
        for entries in on_channel.values():
            entries.sort()
            for (_, free, _), (start, _, ready) in pairwise(entries):
                assert start >= free, problem
                queued += start > ready
            assert [ready for _, _, ready in entries] == sorted(ready for _, _, ready in entries)
    assert queued > 50


def test_the_order_of_streams_and_of_devices_in_a_file_does_not_matter() -> None:
    for problem, _, schedule in solved():
        graph, cluster = problem["graph"], problem["cluster"]
        turned = {**graph, "streams": graph["streams"][::-1]}
        moved = {**cluster, "devices": cluster["devices"][::-1]}
        other = plain_schedule(turned, moved, problem["settings"], problem["placement"])
        assert (other.start, other.finish) == (schedule.start, schedule.finish), problem


def occupied(
    problem: ScheduleForm, inputs: ScheduleInputs, schedule: PlainSchedule
) -> list[list[Interval]]:
    """Return for each device the times at which operators, their rests and jobs hold cores."""
    devices = problem["cluster"]["devices"]
    intervals: list[list[Interval]] = [[] for _ in devices]
    for v, d in enumerate(inputs.place):
        begin, end = schedule.start[inputs.names[v]], schedule.finish[inputs.names[v]]
        rest = Fraction(devices[d].get("startup_s", 0)) if end > begin else 0
        intervals[d].append((begin, end + rest, inputs.cores(v, d)))
    index = {device["name"]: d for d, device in enumerate(devices)}
    for job in schedule.jobs:
        intervals[index[job.device]].append((job.start, job.finish, 1))
    return intervals


def held(intervals: list[Interval], now: Fraction) -> int:
    """Return the cores that are held at a moment."""
    return sum(cores for begin, end, cores in intervals if begin <= now < end)


def runnable_moments(inputs: ScheduleInputs, schedule: PlainSchedule) -> list[Fraction]:
    """Return when all inputs of each operator count as arrived."""
    finish = [schedule.finish[name] for name in inputs.names]
    arrived = [finish[stream.source] for stream in inputs.streams]
    for message in schedule.messages:
        for e in message.streams:
            device = inputs.devices[inputs.place[inputs.streams[e].target]]["name"]
            arrived[e] = message.counts[device]
    return [
        max((arrived[e] for e in inputs.inputs[v]), default=Fraction(0)) for v in range(len(finish))
    ]


def least_transfer(inputs: ScheduleInputs, e: int) -> Fraction:
    """Return the seconds that a stream takes at least between the devices of its operators."""
    a, b = inputs.place[inputs.streams[e].source], inputs.place[inputs.streams[e].target]
    if a == b or inputs.is_free(e):
        return Fraction(0)
    crossing = inputs.crossing(a, b, inputs.size(e))
    return crossing.send_s + crossing.transfer_s + crossing.latency_s + crossing.receive_s
