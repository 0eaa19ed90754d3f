"""Measurement of the speed of this machine, by a clock of the test."""

import itertools
import time
from types import SimpleNamespace

import pytest

from streamplace.engines.host import speed


def test_mips_are_rounds_per_second_of_cpu_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round takes 0.1 s of CPU time at first, and half of it later."""
    spent, rounds = [0.0], itertools.count(1)

    def work(_: bytes) -> int:
        spent[0] += 0.1 if next(rounds) <= 5 else 0.05
        return 0

    clock = SimpleNamespace(process_time=lambda: spent[0], monotonic=lambda: 3 * spent[0])
    monkeypatch.setattr(speed, "time", clock)
    monkeypatch.setattr(speed, "work", work)
    found = speed.measure(2.0, processors=1)
    assert found.slices == 2
    assert found.slowest == pytest.approx(10 / speed.ROUNDS_PER_MIPS, rel=0.2)
    assert found.fastest == pytest.approx(20 / speed.ROUNDS_PER_MIPS, rel=0.2)
    assert found.mips == pytest.approx((found.slowest + found.fastest) / 2)


def test_the_work_is_the_same_each_time() -> None:
    records = speed._records()
    assert speed.work(records) == speed.work(records) > 0
    assert speed._records() == records


def test_all_processors_are_measured() -> None:
    began = time.monotonic()
    found = speed.measure(0.0, processors=2)
    assert (found.processors, found.slices) == (2, 2)
    assert 0 < found.slowest <= found.mips <= found.fastest
    assert time.monotonic() > began
