"""Work at the speed of a slow core."""

import time

from benchmarks.testbed.passes.worker.pacing import SLICE_NS, Pacer
from benchmarks.testbed.worker.burning import clock

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
