"""Loads with times by kind of device and shared messages on the page, against Python: Node.js."""

from collections.abc import Iterator

import numpy as np
import pytest

from benchmarks.hardening.campaigns.invariants.browser_engines import Evaluate
from benchmarks.hardening.campaigns.invariants.page_comparison import (
    difference,
    in_node,
    page_input,
)
from benchmarks.reference.message_problems import possible_devices, with_message_fields
from benchmarks.reference.random_problems import random_problem
from streamplace import Placement
from streamplace.errors import GraphError, InfeasibleError
from streamplace.scoring.flow import flow
from streamplace.scoring.throughput import simulate


@pytest.fixture(scope="module")
def scored() -> Iterator[Evaluate]:
    with in_node() as evaluate:
        if evaluate is None:
            pytest.skip("needs Node.js")
        yield evaluate


def drawn_placements(count: int) -> list[Placement]:
    """Return random placements of random problems with those fields."""
    made = []
    for seed in range(count):
        rng = np.random.default_rng((seed, 9))
        plain = random_problem(seed).with_source_rate(float(rng.integers(3, 30)) * 100.0)
        try:
            problem = with_message_fields(plain, rng)
            flow(problem)
        except (GraphError, InfeasibleError):
            continue
        made.append(Placement(problem, possible_devices(problem, rng)))
    return made


@pytest.mark.long
@pytest.mark.parametrize("large", [False, True], ids=["from the graph", "from sums"])
def test_scores_equal_those_of_python(scored: Evaluate, large: bool) -> None:
    placements = drawn_placements(300)
    shown = scored([page_input(placement, large) for placement in placements])
    assert len(shown) > 250
    for placement, score in zip(placements, shown, strict=True):
        assert difference(score, simulate(placement)) < 1e-12
