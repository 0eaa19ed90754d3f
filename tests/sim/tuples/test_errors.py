"""Standard errors of latencies: their coverage on queues whose latencies are known."""

from math import log

import numpy as np
import pytest

from streamplace.sim.tuples import Arrivals, Deployment, run
from streamplace.sim.tuples.errors import BATCHES, LEAST, quantile, relaxation_s, standard_errors
from tests.support.queues import deployed_chain

QUANTILES = {"p50": 0.5, "p99": 0.99}


def test_independent_values_have_the_usual_errors() -> None:
    """The error of the mean is σ / √n, and that of a quantile √(p (1 - p) / n) / density."""
    rng = np.random.default_rng(1)
    count, several = 20_000, []
    for _ in range(20):
        errors = standard_errors(rng.exponential(1.0, count), QUANTILES)
        assert errors is not None
        several.append([errors["mean"], errors["p50"]])
    usual = np.array([1.0, 0.5 / 0.5]) / np.sqrt(count)
    assert np.median(several, axis=0) == pytest.approx(usual, rel=0.4)


def test_values_that_depend_on_each_other_have_larger_errors() -> None:
    """For an autoregressive process of first order, the variance of the mean is known."""
    rng, count, r, several = np.random.default_rng(2), 10_000, 0.98, []
    for _ in range(20):
        noise, values = rng.normal(size=count), np.empty(count)
        values[0] = noise[0]
        for i in range(1, count):
            values[i] = r * values[i - 1] + noise[i]
        errors = standard_errors(values + 100.0, QUANTILES)
        assert errors is not None
        several.append(errors["mean"])
    assert np.median(several) == pytest.approx(1 / (1 - r) / np.sqrt(count), rel=0.4)


def test_equal_and_few_values() -> None:
    assert standard_errors(np.ones(BATCHES * LEAST), QUANTILES) == {
        "mean": 0.0,
        "p50": 0.0,
        "p99": 0.0,
    }
    assert standard_errors(np.ones(BATCHES * LEAST - 1), QUANTILES) is None
    assert standard_errors(np.zeros(BATCHES * LEAST), QUANTILES) is not None


def test_quantiles_are_the_smallest_latency_of_the_share() -> None:
    values = np.arange(1.0, 101.0)[::-1].copy()
    assert quantile(values, 0.99) == 99.0
    assert quantile(values, 0.5) == 50.0
    assert quantile(values[:1], 0.99) == 100.0


def relaxation(chain: Deployment, *, exponential: bool = True, bursts: bool = False) -> float:
    arrivals = Arrivals("bursts" if bursts else "poisson")
    return relaxation_s(chain, arrivals, exponential=exponential)


def test_relaxation_times() -> None:
    """That of M/M/1 is known; constant services halve it, and the slowest queue counts."""
    known = 0.9e-3 / (1 - 0.9**0.5) ** 2
    assert relaxation(deployed_chain(0.9)) == pytest.approx(known)
    assert relaxation(deployed_chain(0.9), exponential=False) == pytest.approx(known / 2)
    assert relaxation(deployed_chain(0.5, 0.9, 0.7)) == pytest.approx(known)
    at_once = deployed_chain(0.1, 9e-4, rate=1.0, selectivity=1000.0)
    assert relaxation(at_once) == pytest.approx(0.9 / (1 - 0.9**0.5) ** 2)
    assert relaxation(deployed_chain(0.3), bursts=True) == 0.5
    assert relaxation(deployed_chain(0.8), bursts=True) > 100 * relaxation(deployed_chain(0.8))


def coverage(load: float, tuples: int, seeds: range) -> tuple[dict[str, float], float]:
    """Return how often ± 2 errors cover the values of M/M/1, and how often runs have settled."""
    chain, mean = deployed_chain(load), 1e-3 * load / (1 - load)
    known = {"mean": mean, "p50": mean * log(2), "p99": mean * log(100)}
    covered, settled = dict.fromkeys(known, 0), 0
    seconds = tuples / 1000
    options = {"duration_s": seconds, "measured_from_s": seconds / 6, "exponential": True}
    for seed in seeds:
        found = run(chain, Arrivals(), seed=seed, **options)  # type: ignore[arg-type]
        assert found.latency_s is not None
        assert found.latency_se_s is not None
        settled += found.settled
        for name, value in known.items():
            error = abs(found.latency_s[name] - value)
            covered[name] += error <= 2 * found.latency_se_s[name]
    return {name: hits / len(seeds) for name, hits in covered.items()}, settled / len(seeds)


@pytest.mark.long
@pytest.mark.parametrize(("load", "tuples"), [(0.5, 5_000), (0.9, 60_000), (0.97, 600_000)])
def test_errors_cover_what_is_known_where_a_run_has_settled(load: float, tuples: int) -> None:
    """Of independent normal values, 95% would be covered."""
    covered, settled = coverage(load, tuples, range(200 if load < 0.97 else 60))
    assert settled == 1.0
    assert min(covered["mean"], covered["p50"]) >= 0.88
    assert covered["p99"] >= 0.82


@pytest.mark.long
def test_short_runs_near_saturation_have_not_settled() -> None:
    """Their errors are too small, whatever the batches: the mean still drifts."""
    covered, settled = coverage(0.97, 30_000, range(200))
    assert settled == 0.0
    assert covered["mean"] < 0.9


def test_a_short_run_near_saturation_has_not_settled() -> None:
    options = {"duration_s": 20.0, "measured_from_s": 3.0, "exponential": True}
    found = run(deployed_chain(0.97), Arrivals(), **options)  # type: ignore[arg-type]
    assert not found.settled
    assert found.enough_s == pytest.approx(100 * 0.97e-3 / (1 - 0.97**0.5) ** 2)
