"""The comparison of an engine of makespans with the plain one: it finds faults."""

from typing import Any

import pytest

from benchmarks.reference.plain_schedule import plain_schedule
from benchmarks.reference.schedule_problems import ScheduleForm
from tests.support.schedule_comparison import Times, first_difference


def in_doubles(graph: Any, cluster: Any, settings: Any, placement: Any) -> tuple[Times, Times]:
    """Return the plain engine's times as floats."""
    schedule = plain_schedule(graph, cluster, settings, placement)
    start = {name: float(time) for name, time in schedule.start.items()}
    return start, {name: float(time) for name, time in schedule.finish.items()}


def without_gaps(graph: Any, cluster: Any, settings: Any, placement: Any) -> tuple[Times, Times]:
    network = {**cluster["network"], "gap_s": 0}
    return in_doubles(graph, {**cluster, "network": network}, settings, placement)


def without_ends(graph: Any, cluster: Any, settings: Any, placement: Any) -> tuple[Times, Times]:
    start, finish = in_doubles(graph, cluster, settings, placement)
    return start, {name: time for name, time in finish.items() if time < 9}


def failing(graph: Any, cluster: Any, settings: Any, placement: Any) -> tuple[Times, Times]:
    if settings["barrier"] and cluster["network"]["kind"] == "nic":
        raise ZeroDivisionError("no levels")
    return in_doubles(graph, cluster, settings, placement)


def has_gap(problem: ScheduleForm) -> bool:
    network = problem["cluster"]["network"]
    return any(part.get("gap_s") for part in (network, *network.get("overrides", ())))


def test_an_engine_with_equal_times_has_no_difference() -> None:
    assert first_difference(in_doubles, range(100)) is None
    assert first_difference(in_doubles, range(3), large=True) is None


def test_a_difference_names_the_seed_the_problem_and_the_times() -> None:
    found = first_difference(without_gaps)
    assert found is not None
    assert has_gap(found.problem)
    assert "starts at" in found.details
    assert f"seed {found.seed}" in str(found)
    assert '"gap_s"' in str(found)


def test_problems_that_an_engine_does_not_support_are_left_out() -> None:
    assert first_difference(without_gaps, range(100), applies=lambda one: not has_gap(one)) is None


def test_an_error_is_a_difference() -> None:
    found = first_difference(failing)
    assert found is not None
    assert found.details == "the engine raises ZeroDivisionError('no levels')"


def test_a_missing_operator_is_a_difference() -> None:
    found = first_difference(without_ends)
    assert found is not None
    assert "not at None" in found.details


@pytest.mark.parametrize("option", ["startup_s", "overhead_s_per_byte", "cores", "kind"])
def test_an_option_of_a_device_that_an_engine_ignores_is_found(option: str) -> None:
    def ignoring(graph: Any, cluster: Any, settings: Any, placement: Any) -> tuple[Times, Times]:
        devices = [{k: x for k, x in d.items() if k != option} for d in cluster["devices"]]
        operators = [{"instructions": 0, **o} for o in graph["operators"]]
        operators = [{**o, "instructions": o["instructions"] or 0} for o in operators]
        other = {**cluster, "devices": devices}
        return in_doubles({**graph, "operators": operators}, other, settings, placement)

    found = first_difference(ignoring)
    assert found is not None
    assert any(option in device for device in found.problem["cluster"]["devices"])
