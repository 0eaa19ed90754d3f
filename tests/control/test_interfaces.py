"""The clock of this machine."""

import time

import pytest

from streamplace.control.interfaces import SystemClock


@pytest.mark.parametrize("step_s", [-3600.0, 3600.0])
def test_a_clock_that_is_set_does_not_move_the_time(
    step_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, now = SystemClock(), time.time()
    assert clock() == pytest.approx(now, abs=60.0)
    monkeypatch.setattr(time, "time", lambda: now + step_s)
    assert clock() == pytest.approx(now, abs=60.0)
