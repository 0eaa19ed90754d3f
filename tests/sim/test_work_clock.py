"""The clock that stops during loading, driven by the test's own wall clock."""

import pytest

from streamplace.placers.budget import Budget
from streamplace.sim import work_clock


class WallClock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    clock = WallClock()
    monkeypatch.setattr("time.perf_counter", clock)
    return clock


def test_the_clock_stops_while_something_is_loaded(wall: WallClock) -> None:
    begun = work_clock.now()
    wall.seconds += 3
    with work_clock.loading():
        inside = work_clock.now()
        wall.seconds += 5
        assert work_clock.now() - inside == pytest.approx(
            5
        )  # inside, it runs, so that time limits hold
        with work_clock.loading():
            wall.seconds += 7
    wall.seconds += 11
    assert work_clock.now() - begun == pytest.approx(14)


def test_the_clock_continues_after_a_failure(wall: WallClock) -> None:
    begun = work_clock.now()

    def fail() -> None:
        wall.seconds += 5
        raise RuntimeError

    with pytest.raises(RuntimeError), work_clock.loading():
        fail()
    wall.seconds += 2
    assert work_clock.now() - begun == pytest.approx(2)


def test_the_clock_counts_cpu_time_where_asked(
    wall: WallClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    cpu = WallClock()
    monkeypatch.setattr("time.process_time", cpu)
    outside, cpu_outside = work_clock.now(), work_clock.cpu_now()
    with work_clock.cpu_time():
        begun = work_clock.now()
        wall.seconds += 3
        cpu.seconds += 2
        with work_clock.loading():
            cpu.seconds += 5
            wall.seconds += 7
        assert work_clock.now() - begun == pytest.approx(2)
    assert work_clock.cpu_now() - cpu_outside == pytest.approx(2)
    assert work_clock.now() - outside == pytest.approx(3)


def test_the_limit_of_a_search_is_cpu_time_where_asked(
    wall: WallClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy machine takes wall time from a process, and none of its budget."""
    monkeypatch.setattr("time.process_time", WallClock())
    with work_clock.cpu_time():
        budget = Budget(seconds=1.0)
        wall.seconds += 60
        assert budget.seconds_left() == pytest.approx(1.0)
    budget = Budget(seconds=1.0)
    wall.seconds += 60
    assert budget.seconds_left() == pytest.approx(-59.0)
