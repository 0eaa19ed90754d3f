"""Limits on latency, and the least latency."""

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
import pytest

from benchmarks.reference.grouped_problems import grouped_problem
from benchmarks.reference.random_problems import feasible_placements, random_problem
from streamplace import Cluster, Constraints, Device, Network, Problem
from streamplace.errors import UsageError
from streamplace.latency.limit import FORM, LatencyLimit
from streamplace.latency.proof import least_latency
from streamplace.latency.tuples import deployment_of
from streamplace.problem.problem import Problem as AnyProblem
from streamplace.sim.tuples import Arrivals, expected_tuples, run
from streamplace.sim.tuples.errors import quantile
from streamplace.util.units import UNITS
from streamplace.workflows.place import place
from tests.support.graphs import chain_graph, two_operator_graph
from tests.support.paths import ROOT
from tests.support.share import Share


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("p99=200ms", LatencyLimit("p99", 0.2)),
        ("p50=.1s", LatencyLimit("p50", 0.1)),
        ("p99.9=2s", LatencyLimit("p99.9", 2.0)),
        ("mean=1e-3s", LatencyLimit("mean", 0.001)),
        ("mean=20us", LatencyLimit("mean", 2e-5)),
        ("p50=1min", LatencyLimit("p50", 60.0)),
        (
            "p99=1s:arrivals=bursts:service=deterministic:margin=0",
            LatencyLimit("p99", 1.0, "bursts", "deterministic", 0.0),
        ),
    ],
)
def test_text_is_read(text: str, limit: LatencyLimit) -> None:
    assert LatencyLimit.parse(text) == limit


@pytest.mark.parametrize("limit", [lambda: LatencyLimit.of(5), lambda: LatencyLimit(5, 0.1)])  # type: ignore[arg-type]
def test_a_limit_of_another_type_names_the_argument(limit: Callable[[], LatencyLimit]) -> None:
    with pytest.raises(UsageError, match=r"^max_latency: (quantity )?must be ") as caught:
        limit()
    assert caught.value.fault.option == "max_latency"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "p99",
            "must be QUANTITY=TIME with a time and its unit .ns, us, µs, ms, s, min, h., such",
        ),
        ("p99=200", "must be QUANTITY=TIME"),
        ("p99=-1s:margin=0", "must be above 0 and finite .got 'p99=-1s:margin=0'.$"),
        ("p99=0s", "must be above 0 and finite"),
        ("p99=1e999s", "must be QUANTITY=TIME"),
        ("=1s", "must be QUANTITY=TIME"),
        ("p100=1s", "percentiles are p1 to p99.9, such as p99=200ms .got 'p100=1s'.$"),
        ("p0=1s", "percentiles are p1 to p99.9"),
        ("median=1s", "must be QUANTITY=TIME .* .got 'median=1s'.$"),
        ("p99=1d:margin=0", "must be QUANTITY=TIME .* .got 'p99=1d:margin=0'.$"),
        ("p99=1s:margin=nan", "margin must be at least 0"),
        ("p99=1s:margin", "option 'margin' needs a value"),
        ("p99=1s:service=even", "service must be .* deterministic .got 'p99=1s:service=even'.$"),
        ("p99=1s:seed=1", "unknown option 'seed'"),
    ],
)
def test_faults(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        LatencyLimit.parse(text)


def test_messages_and_the_page_name_every_unit_of_time() -> None:
    page = (ROOT / "docs/latency.md").read_text()
    for unit in UNITS["s"]:
        if unit.isascii():
            assert f" {unit}" in FORM.replace("(", " ")
            assert f"`{unit}`" in page


def test_faults_from_python_quote_the_value() -> None:
    with pytest.raises(UsageError, match=r"above 0 and finite \(got 0 s\)$"):
        LatencyLimit("p99", 0)
    with pytest.raises(UsageError, match=r"percentiles .* \(got 'p100'\)$"):
        LatencyLimit("p100", 1)


def test_the_margin() -> None:
    limit = LatencyLimit("p99", 1.2)
    assert limit.holds(1.0)
    assert not limit.holds(1.01)
    assert (limit.share, LatencyLimit("mean", 1.0).share) == (0.99, None)


@pytest.mark.parametrize("kind", [np.float32, np.int64])
def test_numbers_of_numpy_become_numbers_of_python(kind: Any) -> None:
    limit = LatencyLimit("p99", kind(2), margin=kind(1))
    assert limit == LatencyLimit("p99", 2, margin=1)
    plain = int if kind is np.int64 else float
    assert (type(limit.seconds), type(limit.margin)) == (plain, plain)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("p99", "1"), "max_latency: seconds must be a number .got '1'"),
        (("p99", None), "max_latency: seconds must be a number .got None"),
        (("p99", True), "max_latency: seconds must be a number .got True"),
        (("p99", 10**400), "max_latency: seconds is too large for a float"),
        ((5, 1), "max_latency: quantity must be a string .got 5"),
        (("p99", 1, "poisson", "exponential", "x"), "max_latency: margin must be a number"),
    ],
)
def test_wrong_types(arguments: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        LatencyLimit(*arguments)


@pytest.mark.parametrize("limit", [5, ("p99", 0.1), 0, LatencyLimit])
def test_neither_a_limit_nor_text(limit: Any) -> None:
    with pytest.raises(UsageError, match=r"max_latency: must be LatencyLimit, not .*p99=200ms"):
        place(two_operator_graph(), source_rate=1, max_latency=limit)


EXPONENTIAL, CONSTANT = (
    {name: LatencyLimit(name, 1.0, service=service) for name in ("mean", "p50", "p99")}
    for service in ("exponential", "deterministic")
)


def two(constraints: Constraints | None = None) -> Problem:
    """Return a chain a -> b of 2 and 3 ms on the faster of two devices."""
    network = Network(bandwidth_mbps=8.0, latency_s=0.01)
    cluster = Cluster([Device("slow", 500.0), Device("fast", 1000.0)], network)
    graph = chain_graph(2e6, 3e6, payload_bytes=1000.0)
    return Problem(graph, cluster, source_rate=1.0, constraints=constraints)


def test_services_on_the_fastest_device() -> None:
    problem = two()
    assert least_latency(problem, CONSTANT["mean"]) == pytest.approx(0.005)
    assert least_latency(problem, CONSTANT["p50"]) == pytest.approx(0.005)
    assert least_latency(problem, EXPONENTIAL["mean"]) == pytest.approx(0.005)
    assert least_latency(problem, EXPONENTIAL["p99"]) == pytest.approx(0.003 * log(100))


def test_ends_that_cannot_share_a_device() -> None:
    """The message takes 1 ms on the link and 10 ms on the wire."""
    apart = two(Constraints(exlocate=(("a", "b"),)))
    assert least_latency(apart, CONSTANT["p99"]) == pytest.approx(0.005 + 0.011)
    pinned = two(Constraints(pins={"a": "slow", "b": "fast"}))
    assert least_latency(pinned, CONSTANT["p99"]) == pytest.approx(0.007 + 0.011)


def check_bound(seed: int) -> None:
    """No placement, with hardly any load, has a latency below the bound."""
    problem: AnyProblem = (random_problem if seed % 2 else grouped_problem)(
        seed, max_placements=2000
    )
    rows = np.concatenate(list(feasible_placements(problem)))
    rng = np.random.default_rng(seed)
    for devices in rows[rng.integers(0, len(rows), 3)]:
        placed = deployment_of(problem, devices)
        placed = placed._replace(rate=placed.rate * 1e-6)
        seconds = 3e4 / expected_tuples(placed, 1.0)
        for limits in (EXPONENTIAL, CONSTANT):
            found = run(
                placed,
                Arrivals(),
                exponential=limits["mean"].exponential,
                duration_s=seconds,
                measured_from_s=0.0,
                seed=seed,
            ).latencies_s
            for name, limit in limits.items():
                value = found.mean() if name == "mean" else quantile(found, limit.share or 0)
                assert value >= 0.93 * least_latency(problem, limit), (name, limit.service)


@pytest.mark.parametrize("seed", range(4))
def test_no_placement_is_faster(seed: int) -> None:
    check_bound(seed)


@pytest.mark.long
def test_no_placement_of_many_problems_is_faster(share: Share) -> None:
    for seed in share.of(range(10, 110)):
        check_bound(seed)
