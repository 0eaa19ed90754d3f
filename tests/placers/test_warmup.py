"""Warm-up of placers: which kernels are compiled before any timing starts."""

from typing import Any

import pytest

from streamplace.placers.scheduling import annealing
from streamplace.placers.search.search import Search
from streamplace.placers.warmup import Scoring, warm_up


@pytest.mark.parametrize(
    ("scoring", "compiled"),
    [("makespan", {"anneal_fifo"}), ("events", {"anneal_fifo", "anneal_events"})],
)
def test_annealing_of_makespans_is_compiled_before_the_time_limit_counts(
    scoring: Scoring, compiled: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With noise, chains anneal on the fast engine of ``fifo``, and scores are the other's."""
    called = set()
    for name in ("anneal_fifo", "anneal_events"):
        original = getattr(annealing, name)

        def recorded(*arguments: Any, name: str = name, original: Any = original) -> Any:
            called.add(name)
            return original(*arguments)

        monkeypatch.setattr(annealing, name, recorded)
    warm_up(Search(evaluations=500), scoring)
    assert called == compiled
