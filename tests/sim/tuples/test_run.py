"""Single tuples: queueing theory, a plain simulation, and what a run reports."""

from math import exp, log

import numpy as np
import pytest

from benchmarks.reference.grouped_problems import grouped_problem
from benchmarks.reference.plain_tuples import PlainTuples
from benchmarks.reference.random_problems import random_problem
from streamplace import Cluster, Operator, Problem, StreamGraph
from streamplace.problem.device import Device
from streamplace.scoring.flow import flow
from streamplace.sim.tuples import Arrivals, Deployment, deploy, expected_tuples, run
from streamplace.sim.tuples.state import Process
from tests.support.queues import (
    deployed,
    deployed_chain,
    long_run,
    md1_wait_below,
    quantile_of,
    two_below,
)
from tests.support.share import Share

CLOSE = 0.05  # the largest relative error that the issue allows
MOST = 4000  # tuples of a plain run


def test_one_server_with_exponential_services() -> None:
    """The sojourn of an M/M/1 queue is exponential with rate mu - lambda."""
    found = long_run(deployed_chain(0.7), exponential=True)
    mean = 0.0007 / 0.3
    assert found.latency_s == pytest.approx(
        {"mean": mean, "p50": mean * log(2), "p99": mean * log(100)}, rel=CLOSE
    )
    assert found.device_utilisation == pytest.approx([0.7], rel=0.01)
    assert found.settled
    assert found.latency_se_s is not None
    assert abs(found.latency_s["mean"] - mean) < 4 * found.latency_se_s["mean"]  # type: ignore[index]


def test_one_server_with_constant_services() -> None:
    """The wait of an M/D/1 queue: Pollaczek-Khinchine, and Erlang's distribution."""
    found = long_run(deployed_chain(0.7), exponential=False)
    service = 0.0007
    p99 = service * (1 + quantile_of(lambda t: md1_wait_below(0.7, t), 0.99, 30.0))
    mean = service * (1 + 0.7 / (2 * 0.3))
    assert found.latency_s is not None
    assert found.latency_s["mean"] == pytest.approx(mean, rel=CLOSE)
    assert found.latency_s["p99"] == pytest.approx(p99, rel=CLOSE)


def test_a_tandem_of_two_servers() -> None:
    """Burke's theorem: the second queue is M/M/1 too, and the sojourns are independent."""
    found = long_run(deployed_chain(0.7, 0.5), exponential=True)
    first, second = 0.3 / 0.0007, 0.5 / 0.0005
    p99 = quantile_of(lambda t: two_below(first, second, t), 0.99, 1.0)
    assert found.latency_s is not None
    assert found.latency_s["mean"] == pytest.approx(1 / first + 1 / second, rel=CLOSE)
    assert found.latency_s["p99"] == pytest.approx(p99, rel=CLOSE)


def test_random_rounding_thins_a_poisson_process() -> None:
    """With selectivity 1/2, half of the tuples reach the second queue, at random."""
    found = long_run(deployed_chain(0.5, 0.6, selectivity=0.5), exponential=True)
    assert found.latency_s is not None  # the second operator processes 500 tuples/s: load 0.3
    assert found.latency_s["mean"] == pytest.approx(0.0005 / 0.5 + 0.0006 / 0.7, rel=CLOSE)
    assert len(found.latencies_s) == pytest.approx(500 * 475, rel=0.01)


@pytest.mark.parametrize(("threads", "cores"), [(2, 2), (2, 4), (1, 4)])
def test_several_servers(threads: int, cores: int) -> None:
    """An operator that can use c cores of a larger device is an M/M/c queue (Erlang C)."""
    graph = StreamGraph([Operator("a", 1e6, 0.0, cores=threads)], [], source_rate=700.0 * threads)
    problem = Problem(graph, Cluster([Device("d", 1000.0, cores)]))
    found = long_run(deployed(problem, np.zeros(1)), exponential=True, seconds=300.0)
    waits = 0.7 if threads == 1 else 2 * 0.7**2 / (1 + 0.7)
    mean = 0.001 + waits * 0.001 / (threads * 0.3)
    assert found.latency_s is not None
    assert found.latency_s["mean"] == pytest.approx(mean, rel=CLOSE)
    assert found.operator_utilisation == pytest.approx([0.7], rel=0.02)
    assert found.device_utilisation == pytest.approx([0.7 * threads / cores], rel=0.02)


def test_bursts_lengthen_waits() -> None:
    """In phases of 1 s, a queue that serves in milliseconds is two M/M/1 queues in turn."""
    chain = deployed_chain(0.5)
    options = {"duration_s": 1000.0, "measured_from_s": 20.0, "seed": 3}
    found = run(chain, Arrivals("bursts"), exponential=True, **options)  # type: ignore[arg-type]
    burst, calm = 0.0005 / 0.25, 0.0005 / 0.75
    assert found.latency_s is not None
    assert found.latency_s["mean"] == pytest.approx(0.75 * burst + 0.25 * calm, rel=CLOSE)
    p99 = quantile_of(lambda t: 1 - 0.75 * exp(-t / burst) - 0.25 * exp(-t / calm), 0.99, 1.0)
    assert found.latency_s["p99"] == pytest.approx(p99, rel=2 * CLOSE)


def compare_with_plain(seed: int, process: Process, exponential: bool) -> None:
    """Compare a run of a random problem with the plain simulation, tuple by tuple."""
    problem = (random_problem if seed % 2 else grouped_problem)(seed)
    rng = np.random.default_rng(seed)
    latency_s = problem.cluster.link_column("latency_s")
    placement = rng.integers(0, len(problem.cluster.devices), len(problem.graph.names))
    chain = deploy(flow(problem), latency_s, placement.astype(np.int32))
    chain = at_load(chain, 0.8)
    seconds = MOST / expected_tuples(chain, 1.0)
    options = {"exponential": exponential, "duration_s": seconds, "measured_from_s": seconds / 4}
    found = run(chain, Arrivals(process), **options, seed=seed)  # type: ignore[arg-type]
    plain = PlainTuples(chain, Arrivals(process), **options, seed=seed)  # type: ignore[arg-type]
    assert found.latencies_s == pytest.approx(plain.latencies_s, rel=1e-9)


def at_load(chain: Deployment, load: float) -> Deployment:
    """Return a deployment with other rates, so that its largest utilisation is `load`."""
    largest = max(chain.device_utilisation.max(), chain.thread_utilisation.max())
    largest = max([largest, *chain.link_utilisation])
    return chain._replace(rate=chain.rate * load / largest if largest > 0 else chain.rate)


@pytest.mark.parametrize("exponential", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_runs_equal_those_of_a_plain_simulation(seed: int, exponential: bool) -> None:
    compare_with_plain(seed, "poisson", exponential)


def test_runs_with_bursts_equal_those_of_a_plain_simulation() -> None:
    compare_with_plain(1, "bursts", True)


@pytest.mark.long
def test_many_runs_equal_those_of_a_plain_simulation(share: Share) -> None:
    for seed in share.of(range(10, 130)):
        compare_with_plain(seed, "bursts" if seed % 3 == 0 else "poisson", seed % 4 < 2)


def test_arrivals_do_not_depend_on_the_placement() -> None:
    """Runs on a slow and a fast device have the same number of tuples, served at other speeds."""
    slow, fast = (
        run(
            deployed_chain(load),
            Arrivals(),
            exponential=False,
            duration_s=1.0,
            measured_from_s=0.0,
            seed=7,
        )
        for load in (1e-5, 1e-6)
    )
    assert len(slow.latencies_s) == len(fast.latencies_s)
    assert slow.latencies_s.min() == pytest.approx(1e-8)
    assert fast.latencies_s.min() == pytest.approx(1e-9)


def test_unknown_arrivals_are_refused() -> None:
    with pytest.raises(ValueError, match="arrivals: must be poisson or bursts"):
        Arrivals("uniform")  # type: ignore[arg-type]
