"""Loads with times by kind of device and shared messages on the page, against Python: Node.js."""

from collections.abc import Iterator

import numpy as np
import pytest

from benchmarks.reference.message_problems import possible_devices, with_message_fields
from benchmarks.reference.random_problems import random_problem
from streamplace import Cluster, Device, LinkOverride, Network, Placement, Problem, StreamGraph
from streamplace.errors import GraphError, InfeasibleError
from streamplace.problem.network import NetworkKind
from streamplace.scoring.flow import flow
from streamplace.scoring.throughput import simulate
from tests.support.browser_engines import Evaluate
from tests.support.page_scores import (
    difference,
    in_node,
    page_input,
)


@pytest.fixture(scope="module")
def scored() -> Iterator[Evaluate]:
    with in_node() as evaluate:
        if evaluate is None:
            pytest.skip("needs Node.js")
        yield evaluate


@pytest.fixture(scope="module")
def impossible() -> list[Placement]:
    """Return placements with an operator on a device on which it cannot run."""
    found = [
        placement for placement in drawn_placements(250, anywhere=True) if cannot_run(placement)
    ]
    assert len(found) > 10
    return found


def drawn_placements(count: int, *, anywhere: bool = False) -> list[Placement]:
    """Return random placements of random problems with those fields.

    Parameters
    ----------
    anywhere
        Place operators also on devices on which they cannot run.
    """
    made = []
    for seed in range(count):
        rng = np.random.default_rng((seed, 9))
        plain = random_problem(seed).with_source_rate(float(rng.integers(3, 30)) * 100.0)
        try:
            problem = with_message_fields(plain, rng)
            flow(problem)
        except (GraphError, InfeasibleError):
            continue
        devices = possible_devices(problem, rng)
        if anywhere:
            devices[:] = rng.integers(len(problem.cluster.devices), size=len(devices))
        made.append(Placement(problem, devices))
    return made


@pytest.mark.long
@pytest.mark.parametrize("large", [False, True], ids=["from the graph", "from sums"])
def test_scores_equal_those_of_python(scored: Evaluate, large: bool) -> None:
    placements = drawn_placements(300)
    shown = scored([page_input(placement, large) for placement in placements])
    assert len(shown) > 250
    for placement, score in zip(placements, shown, strict=True):
        assert difference(score, simulate(placement)) < 1e-12


@pytest.mark.parametrize("large", [False, True], ids=["from the graph", "from sums"])
def test_operators_where_they_cannot_run_take_the_mean_of_their_times(
    scored: Evaluate, impossible: list[Placement], large: bool
) -> None:
    shown = scored([page_input(placement, large) for placement in impossible])
    for placement, score in zip(impossible, shown, strict=True):
        assert difference(score, simulate(placement)) < 1e-12


@pytest.mark.parametrize(("kind", "target"), [("pair", "d1"), ("nic", None), ("egress", "d1")])
def test_a_link_without_a_limit_has_none_on_the_page(
    scored: Evaluate, kind: NetworkKind, target: str | None
) -> None:
    unlimited = LinkOverride("d0", target, np.inf, gap_s=1e-6)
    network = Network(kind, bandwidth_mbps=10.0, gap_s=0.0, overrides=(unlimited,))
    cluster = Cluster([Device("d0", 2500.0), Device("d1", 2500.0)], network)
    graph = StreamGraph([("a", 1e3, 4e3), ("b", 1e3, 0.0)], [("a", "b")])
    placement = Placement(Problem(graph, cluster, source_rate=1000.0), [0, 1])
    (shown,) = scored([page_input(placement, large=False)])
    assert difference(shown, simulate(placement)) < 1e-12
    sending = "d0->d1" if kind == "pair" else "d0->"
    assert dict(shown["links"])[sending] == pytest.approx(1e-3)


def cannot_run(placement: Placement) -> bool:
    """Return whether an operator is on a device on which it cannot run."""
    devices, problem = placement.devices, placement.problem
    return any(
        seconds.get(problem.cluster.devices[devices[v]].kind, 0.0) is None
        for v, seconds in problem.graph.seconds_on.items()
    )
