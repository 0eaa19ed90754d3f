"""The clock that stops during loading."""

import time

from streamplace.util import work_clock


def test_the_clock_stops_while_something_is_loaded() -> None:
    wall, clock = time.perf_counter(), work_clock.now()
    with work_clock.loading():
        inside = work_clock.now()
        time.sleep(0.05)
        assert work_clock.now() - inside > 0.04
        with work_clock.loading():
            time.sleep(0.05)
    stopped = (time.perf_counter() - wall) - (work_clock.now() - clock)
    assert 0.1 <= stopped <= time.perf_counter() - wall


def test_the_clock_runs_on_after_a_failure() -> None:
    try:
        with work_clock.loading():
            raise RuntimeError
    except RuntimeError:
        pass
    before = work_clock.now()
    time.sleep(0.02)
    assert work_clock.now() - before > 0.01
