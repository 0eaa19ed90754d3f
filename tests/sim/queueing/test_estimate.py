"""Estimated latencies: gamma distributions, and queueing theory where it is exact."""

from math import inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaincc
from scipy.stats import kendalltau

from benchmarks.latency import TARGET, compared
from streamplace import Cluster, Operator, Problem, StreamGraph
from streamplace.problem.device import Device
from streamplace.scoring.flow import flow
from streamplace.sim.queueing import Estimate, estimated
from streamplace.sim.queueing.estimate import mixture_quantile, mixture_tail
from streamplace.sim.tuples import Arrivals, Deployment, run
from tests.support.graphs import loaded_chain
from tests.support.queues import deployed, deployed_chain, long_run


def of_chain(chain: Deployment, *, exponential: bool) -> Estimate:
    """Return the estimate of a chain."""
    source = np.arange(chain.streams, dtype=np.int32)
    return estimated(chain, source, Arrivals(), exponential=exponential)


def test_one_server() -> None:
    found = of_chain(deployed_chain(0.7), exponential=True)
    mean = 0.0007 / 0.3
    values = [found.value(name) for name in ("mean", "p50", "p99")]
    assert values == pytest.approx([mean, mean * log(2), mean * log(100)], rel=1e-6)
    constant = of_chain(deployed_chain(0.7), exponential=False)
    assert constant.mean == pytest.approx(0.0007 * (1 + 0.7 / 0.6))


@pytest.mark.parametrize("exponential", [True, False])
@pytest.mark.parametrize("loads", [(0.7, 0.5), (0.3, 0.2, 0.8)])
def test_chains_of_devices(loads: tuple[float, ...], exponential: bool) -> None:
    """Chains of M/M/1 queues have exact means; constant services arrive smoothed."""
    chain = deployed_chain(*loads)
    found, simulated = (
        of_chain(chain, exponential=exponential),
        long_run(chain, exponential=exponential),
    )
    assert simulated.latency_s is not None
    for name, value in simulated.latency_s.items():
        assert found.value(name) == pytest.approx(value, rel=0.05 if exponential else 0.3), name


def test_several_operators_share_a_device() -> None:
    """A queue with feedback has the waits of one queue, which are alike at every visit."""
    chain = deployed(loaded_chain(0.25, 0.25, 0.25, payload_bytes=0.0), np.zeros(3))
    found, simulated = of_chain(chain, exponential=True), long_run(chain, exponential=True)
    assert simulated.latency_s is not None
    assert found.mean == pytest.approx(3 * 0.00025 / 0.25)
    for name, value in simulated.latency_s.items():
        assert found.value(name) == pytest.approx(value, rel=0.1), name


@pytest.mark.parametrize("selectivity", [2.5, 4.0])
def test_outputs_of_several_tuples_wait_for_each_other(selectivity: float) -> None:
    """The second operator has batch arrivals: M^X/D/1, whose mean is known."""
    chain = deployed_chain(0.001, 0.1, selectivity=selectivity)
    found, simulated = of_chain(chain, exponential=False), long_run(chain, exponential=False)
    assert found.mean == pytest.approx(simulated.latency_s["mean"], rel=0.02)  # type: ignore[index]


@pytest.mark.parametrize(("threads", "cores"), [(2, 2), (2, 4), (1, 4)])
def test_threads_and_cores(threads: int, cores: int) -> None:
    graph = StreamGraph([Operator("a", 1e6, 0.0, cores=threads)], [], source_rate=700.0 * threads)
    problem = Problem(graph, Cluster([Device("d", 1000.0, cores)]))
    found = of_chain(deployed(problem, np.zeros(1)), exponential=True)
    waits = 0.7 if threads == 1 else 2 * 0.7**2 / (1 + 0.7)
    assert found.mean == pytest.approx(0.001 + waits * 0.001 / (threads * 0.3))


def test_bursts() -> None:
    chain = deployed_chain(0.5)
    found = estimated(chain, np.zeros(0, np.int32), Arrivals("bursts"), exponential=True)
    assert found.mean == pytest.approx(0.75 * 0.0005 / 0.25 + 0.25 * 0.0005 / 0.75)
    overloaded = deployed_chain(0.7)  # 1.05 in a burst
    found = estimated(overloaded, np.zeros(0, np.int32), Arrivals("bursts"), exponential=True)
    assert (found.mean, found.quantile(0.5)) == (inf, inf)


@pytest.mark.parametrize("seed", range(4))
def test_light_loads_have_no_waits(seed: int) -> None:
    """At a millionth of the load, estimate and simulation are both the times without waits."""
    problem = loaded_chain(1e-6, 2e-6, 3e-6, devices=2)
    placement = np.random.default_rng(seed).integers(0, 2, 3)
    chain = deployed(problem, placement)
    found = estimated(chain, flow(problem).source, Arrivals(), exponential=False)
    simulated = run(
        chain, Arrivals(), exponential=False, duration_s=1.0, measured_from_s=0.0, seed=seed
    )
    assert found.value("p50") == pytest.approx(simulated.latency_s["p50"], rel=1e-6)  # type: ignore[index]


def test_placements_are_ranked_as_by_simulation() -> None:
    found = compared(1, 8, 3e4)
    assert found.tau >= 0.7  # of one graph; the long test has all


@pytest.mark.long
def test_placements_of_24_graphs_are_ranked_as_by_simulation() -> None:
    found = [compared(seed, 8, 1e5) for seed in range(24)]
    assert np.mean([each.tau for each in found]) >= TARGET
    screened = np.concatenate([each.estimated_s for each in found])
    simulated = np.concatenate([each.simulated_s for each in found])
    assert kendalltau(screened, simulated).statistic >= TARGET


ONE = np.ones(1)


@given(shape=st.floats(0.01, 900), relative=st.floats(0.001, 20))
def test_tails_are_those_of_scipy(shape: float, relative: float) -> None:
    x = shape * relative
    found = mixture_tail(ONE, 0 * ONE, shape * ONE, shape * ONE, x)
    assert found == pytest.approx(gammaincc(shape, x), rel=1e-8, abs=1e-10)


@given(shape=st.floats(1e3, 1e9), deviations=st.floats(-6, 6))
def test_tails_of_large_shapes(shape: float, deviations: float) -> None:
    x = shape + deviations * shape**0.5
    found = mixture_tail(ONE, 0 * ONE, shape * ONE, shape * ONE, x)
    assert found == pytest.approx(gammaincc(shape, x), abs=2e-4)


@given(
    columns=st.lists(
        st.tuples(st.floats(0.1, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)),
        min_size=1,
        max_size=4,
    ),
    share=st.sampled_from([0.5, 0.9, 0.99]),
)
def test_quantiles_are_where_tails_fall_to_the_rest(
    columns: list[tuple[float, float, float, float]], share: float
) -> None:
    weight, least, above, variance = (np.array(column) for column in zip(*columns, strict=True))
    mixture = weight / weight.sum(), least, least + above, variance
    x = float(mixture_quantile(*mixture, share))
    assert mixture_tail(*mixture, x * (1 + 1e-6) + 1e-9) <= 1 - share + 1e-6
    assert mixture_tail(*mixture, x * (1 - 1e-6) - 1e-9) >= 1 - share - 1e-6


def test_a_mean_far_below_the_deviation_is_nearly_always_the_least_value() -> None:
    mixture = ONE, 0 * ONE, 2.2250738585072014e-308 * ONE, ONE
    assert mixture_quantile(*mixture, 0.5) == pytest.approx(0, abs=1e-12)
    assert mixture_tail(*mixture, 1e-9) == 0
    shape = 1e-11  # just above the limit: the mean is shape, with variance shape
    assert mixture_tail(ONE, 0 * ONE, shape * ONE, shape * ONE, 1e-9) < 1e-9


def test_a_shifted_exponential_distribution() -> None:
    found = mixture_quantile(ONE, 3 * ONE, 5 * ONE, 4 * ONE, 0.99)
    assert found == pytest.approx(3 + 2 * log(100), rel=1e-6)
