"""Executors of single passes, and the pace of their operators."""

import time
from queue import SimpleQueue

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.testbed.passes.job import documents
from benchmarks.testbed.passes.worker.executor import Arrival, Executor, Task, Times
from benchmarks.testbed.passes.worker.pacing import SLICE_NS, Pacer
from benchmarks.testbed.worker.burning import clock
from tests.support.passes import random_job


def run(
    tasks: list[Task],
    consumers: dict[int, list[int]] | None = None,
    arrivals: list[Arrival] | None = None,
    sent: list[int] | None = None,
    start_s: float | None = None,
) -> list[Times]:
    """Run operators that take no time; the messages arrive at their own moments."""
    queue: SimpleQueue[Arrival] = SimpleQueue()
    for arrival in arrivals or []:
        queue.put(arrival)
    send = [] if sent is None else sent
    executor = Executor(1, tasks, dict(consumers or {}), queue, lambda _: None, send.append)
    return executor.run(time.monotonic() if start_s is None else start_s)


def order(done: list[Times]) -> list[int]:
    return [operator for operator, *_ in done]


def test_sources_run_by_index() -> None:
    assert order(run([Task(v, 0.0, 0, [], []) for v in (4, 0, 2)])) == [0, 2, 4]


def test_the_operator_that_became_ready_first_is_next() -> None:
    """All messages have arrived when the first operator ends."""
    start_s = time.monotonic()
    moments = {1: 0.003, 2: 0.001, 3: 0.002, 4: 0.001}
    arrivals = [Arrival(start_s - 1 + at_s, 1, v) for v, at_s in moments.items()]
    tasks = [Task(v, 0.0, 1, [], []) for v in moments]
    done = run(tasks, {v: [v] for v in moments}, arrivals, start_s=start_s - 1)
    assert order(done) == [2, 4, 3, 1]
    assert [ready for _, ready, *_ in done] == sorted(ready for _, ready, *_ in done)


def test_an_operator_waits_for_the_latency_of_its_message() -> None:
    start_s = time.monotonic()
    arrival = Arrival(start_s + 0.02, 1, 0)
    ((_, ready, begin, end),) = run([Task(5, 0.0, 1, [], [])], {0: [5]}, [arrival], start_s=start_s)
    assert abs(ready - 0.02) < 1e-9
    assert ready <= begin <= end


def test_messages_of_another_job_are_ignored() -> None:
    now = time.monotonic()
    arrivals = [Arrival(now - 5, 0, 0), Arrival(now - 1, 1, 0)]
    ((_, ready, *_),) = run([Task(0, 0.0, 1, [], [])], {0: [0]}, arrivals, start_s=now - 2)
    assert abs(ready - 1.0) < 1e-9


def test_messages_are_handed_over_in_order_when_their_operator_ends() -> None:
    sent: list[int] = []
    run([Task(0, 0.0, 0, [1], [3, 1]), Task(1, 0.0, 1, [], [2])], sent=sent)
    assert sent == [3, 1, 2]


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_a_device_alone_runs_every_operator_after_its_inputs(seed: int) -> None:
    job = random_job(seed)
    everything = np.zeros_like(job.devices)
    alone = type(job)(everything, job.cost_ns, job.source, job.target, job.size, np.zeros((1, 1)))
    (document,) = documents(alone, 1)
    done = run([Task(*each) for each in document["tasks"]])
    position = {v: i for i, v in enumerate(order(done))}
    assert sorted(position) == list(range(len(everything)))
    times = {v: (ready, begin, end) for v, ready, begin, end in done}
    for v, w in zip(job.source.tolist(), job.target.tolist(), strict=True):
        assert position[v] < position[w]
        assert times[v][2] <= times[w][0]
    keys = [(times[v][0], v) for v in order(done)]
    assert all(
        key <= (times[w][0], w) or times[w][0] > times[v][1]
        for i, (key, v) in enumerate(zip(keys, order(done), strict=True))
        for w in order(done)[i + 1 :]
    ), "an operator that became ready later was preferred"


COST_NS = 3 * SLICE_NS


def test_work_uses_its_cpu_time_and_takes_at_least_its_time() -> None:
    begin, begin_s = clock(), time.monotonic()
    Pacer(0.1).work(COST_NS)
    assert clock() - begin >= 0.9 * COST_NS
    assert time.monotonic() - begin_s >= COST_NS / 0.1 / 1e9


def test_what_a_rest_uses_is_no_work() -> None:
    """Between two slices, the process may do something else, which is not part of the work."""
    rests = []

    def busy(_seconds: float) -> int:
        begin, until_s = clock(), time.monotonic() + 1e-3
        while time.monotonic() < until_s:
            pass
        rests.append(clock() - begin)
        return rests[-1]

    begin, in_an_hour = clock(), time.monotonic() + 3600.0  # so that the work is never late
    Pacer(0.5, busy).work(COST_NS, in_an_hour)
    assert len(rests) == COST_NS / SLICE_NS
    assert clock() - begin - sum(rests) >= 0.9 * COST_NS


def test_late_work_has_no_rests() -> None:
    rests: list[float] = []

    def noted(seconds: float) -> int:
        rests.append(seconds)
        return 0

    Pacer(0.5, noted).work(COST_NS, begin_s=time.monotonic() - 60.0)
    assert rests == []
