"""The parts of which a makespan consists."""

from typing import Any

import pytest

from benchmarks.reference.schedule_problems import schedule_problem
from streamplace.sim.schedule.passes import Division, divide, timetable
from tests.support.schedule_cases import schedule_form
from tests.support.schedule_tasks import task_problem


def division(operators: str, streams: str = "", **options: Any) -> Division:
    """Return the parts of the makespan of a problem written as text; see `schedule_form`."""
    _, tasks, _, order, devices = task_problem(schedule_form(operators, streams, **options))
    return divide(timetable(tasks, order, devices))


@pytest.mark.parametrize(
    "seeds", [range(200), pytest.param(range(200, 1500), marks=pytest.mark.long)]
)
def test_parts_add_up_on_random_problems(seeds: range) -> None:
    """Times are exact in binary, so that sums are equal to the last bit."""
    waited = [0, 0, 0, 0]
    for seed in seeds:
        _, tasks, _, order, devices = task_problem(schedule_problem(seed, large=seed % 10 == 0))
        table = timetable(tasks, order, devices)
        found = divide(table)
        assert sum(found[1:]) == pytest.approx(table.makespan, rel=1e-12, abs=1e-15), seed
        assert min(found[1:]) >= 0.0, seed
        assert not tasks.inputs[found.chain[0]]
        assert found.work == pytest.approx(sum(table.run.duration[list(found.chain)]))
        for i, part in enumerate((found.overheads, found.device, found.channel, found.level)):
            waited[i] += part > 0.0
    assert min(waited) > len(seeds) / 30


def test_a_chain_across_devices() -> None:
    found = division("a:2 b:3@1", "a>b:1.5", network={"latency_s": 0.25})
    assert found == Division((0, 1), 5.0, 1.75, 0.0, 0.0, 0.0, 0.0)


def test_an_operator_waits_for_its_device() -> None:
    """The last operator, c, could start at 1 but the device runs b until 5."""
    found = division("b:5 a:1@1 c:2", "a>c")
    assert found == Division((1, 2), 3.0, 0.0, 0.0, 4.0, 0.0, 0.0)


def test_a_rest_counts_as_waiting_for_the_device() -> None:
    found = division("a:1 b:2", "a>b", devices=[{"startup_s": 0.5}])
    assert found == Division((0, 1), 3.0, 0.0, 0.0, 0.5, 0.0, 0.0)


def test_a_message_waits_for_its_channel() -> None:
    """Both messages of a leave at 1; that to c waits for that to b."""
    streams, network = "a>b:2 a>c:2", {"kind": "egress"}
    found = division("a:1 b:1@1 c:3@1", streams, network=network)
    assert found == Division((0, 2), 4.0, 2.0, 0.0, 0.0, 2.0, 0.0)


def test_a_message_waits_at_its_receiver() -> None:
    """Two messages of 2 s reach the interface of d2 at 1; the second is served after the first."""
    streams, network = "a>c:2 b>c:2", {"kind": "nic"}
    found = division("a:1 b:1@1 c:3@2", streams, devices=3, network=network)
    assert found == Division((1, 2), 4.0, 2.0, 0.0, 0.0, 2.0, 0.0)


def test_overheads_are_on_cores() -> None:
    found = division("a:1 b:1@1", "a>b:1", network={"overhead_s": 0.25})
    assert found == Division((0, 1), 2.0, 1.0, 0.5, 0.0, 0.0, 0.0)


def test_a_level_waits_for_the_level_before() -> None:
    found = division("a:1 b:4@1 c:2", "a>c", barrier=True)
    assert found == Division((0, 2), 3.0, 0.0, 0.0, 0.0, 0.0, 3.0)
