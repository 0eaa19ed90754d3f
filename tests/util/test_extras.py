"""Optional packages: loading what needs one is no cost of a placement."""

from typing import Any

import pytest

from streamplace.sim import work_clock
from streamplace.util.extras import load_learned

pytest.importorskip("torch_geometric")


def test_loading_what_needs_torch_stops_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])

    def slow(path: str) -> Any:
        clock[0] += 5.0
        return path

    monkeypatch.setattr("streamplace.util.extras.load_ours", slow)
    begun = work_clock.now()
    assert load_learned("a:b", "placer 'giph'") == "a:b"
    clock[0] += 1.0
    assert work_clock.now() - begun == 1.0
