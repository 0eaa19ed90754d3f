"""Estimated latencies of placements against simulated ones, and the time of both.

24 graphs of three families, with 6 to 26 operators, are on clusters of all kinds of networks, half
of them with several cores, half with constant services. Each graph has 8 placements, by placers and
at random, at one source rate, at which the busiest device, link or operator of any of them is used
90%; with bursts 60%, which is 90% while a burst lasts. The estimate is to rank the placements as
the simulation does: Kendall's tau-b of the 99th percentiles.

    python -m benchmarks.latency [--graphs N] [--placements N] [--tuples N] [--arrivals bursts]
"""

import argparse
import time
from dataclasses import dataclass
from typing import get_args

import numpy as np
from scipy.stats import kendalltau

from benchmarks.speed import report
from streamplace import Cluster, Network, Problem, Recipe
from streamplace.placers.registry import make_placer
from streamplace.problem.device import Device
from streamplace.scoring.flow import flow
from streamplace.sim.queueing import estimated
from streamplace.sim.tuples import Arrivals, Deployment, deploy, expected_tuples, run
from streamplace.sim.tuples.state import Process

PLACERS = ("auto:evaluations=100000", "metis", "greedy", "single")
KINDS = ("pair", "nic", "free", "egress")
FAMILIES = ("dream", "series-parallel", "layered")
LARGEST = 0.9  # utilisation of the busiest device, link or operator of a graph's placements
TARGET = 0.8


@dataclass(frozen=True)
class Compared:
    """Estimated and simulated values of the placements of one graph, (K,) seconds each."""

    estimated_s: list[float]
    simulated_s: list[float]
    estimated_mean_s: list[float]
    simulated_mean_s: list[float]
    estimate_took_s: float
    run_took_s: float

    @property
    def tau(self) -> float:
        """Kendall's tau-b of the 99th percentiles."""
        return float(kendalltau(self.estimated_s, self.simulated_s).statistic)


def compared(seed: int, placements: int, tuples: float, process: Process = "poisson") -> Compared:
    """Compare estimate and simulation on one random graph."""
    rng = np.random.default_rng(seed)
    problem = random_problem_of(seed, rng)
    latency_s = problem.cluster.link_column("latency_s")
    exponential, arrivals = seed % 2 == 0, Arrivals(process)
    p99_s, simulated_p99_s, mean_s, simulated_mean_s = (list[float]() for _ in range(4))
    took = [0.0, 0.0]
    arrays = flow(problem)
    deployed = [deploy(arrays, latency_s, on) for on in placements_of(problem, placements, rng)]
    factor = LARGEST / max(map(largest_utilisation, deployed)) / max(arrivals.factors)
    for placed in (each._replace(rate=each.rate * factor) for each in deployed):
        started = time.process_time()
        estimate = estimated(placed, arrays.source, arrivals, exponential=exponential)
        p99_s.append(estimate.value("p99"))
        mean_s.append(estimate.mean)
        took[0] += time.process_time() - started
        seconds = tuples / expected_tuples(placed, 1.0)
        started = time.process_time()
        found = run(
            placed,
            arrivals,
            exponential=exponential,
            duration_s=seconds,
            measured_from_s=seconds / 10,
            seed=seed,
        )
        took[1] += time.process_time() - started
        assert found.latency_s is not None
        simulated_p99_s.append(found.latency_s["p99"])
        simulated_mean_s.append(found.latency_s["mean"])
    return Compared(p99_s, simulated_p99_s, mean_s, simulated_mean_s, *took)


def random_problem_of(seed: int, rng: np.random.Generator) -> Problem:
    """Return a problem of one of the families and kinds of networks."""
    family = FAMILIES[seed % len(FAMILIES)]
    graph = Recipe(family, 24, range(6, 27), 0).graph(seed % 24)
    cores = int(rng.choice([1, 1, 2, 4]))
    kind = KINDS[seed % len(KINDS)]
    network = Network(kind, latency_s=float(rng.choice([0.0, 1e-3])))  # type: ignore[arg-type]
    devices = [Device(f"d{i}", float(rng.choice([2500, 5000])) / cores, cores) for i in range(5)]
    return Problem(graph, Cluster(devices, network))


def largest_utilisation(placed: Deployment) -> float:
    """Return the largest utilisation of a deployment's devices, links and threads."""
    names = ("device_utilisation", "link_utilisation", "thread_utilisation")
    return max(float(max(getattr(placed, name), default=0.0)) for name in names)


def placements_of(problem: Problem, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return placements by placers, and random ones on some of the devices."""
    made = [make_placer(name)(problem, rng).devices for name in PLACERS[:count]]
    while len(made) < count:
        used = rng.integers(2, len(problem.cluster.devices) + 1)
        made.append(rng.integers(0, used, len(problem.graph.names)).astype(np.int32))
    return made


def main() -> None:
    """Print one line per figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=24, help="number; default: 24")
    parser.add_argument("--placements", type=int, default=8, help="per graph; default: 8")
    parser.add_argument("--tuples", type=float, default=3e5, help="per run; default: 300,000")
    parser.add_argument("--arrivals", choices=get_args(Process), default="poisson")
    chosen = parser.parse_args()
    found = [
        compared(seed, chosen.placements, chosen.tuples, chosen.arrivals)
        for seed in range(chosen.graphs)
    ]
    taus = [each.tau for each in found]
    screened, simulated, means, of_runs = (
        np.concatenate([getattr(each, name) for each in found])
        for name in ("estimated_s", "simulated_s", "estimated_mean_s", "simulated_mean_s")
    )
    pooled = float(kendalltau(screened, simulated).statistic)
    print(f"{'figure':52} {'measured':>26} {'target':>14}")
    report("tau of p99 over all placements", f"{pooled:.3f}", f">= {TARGET}", pooled >= TARGET)
    mean = float(np.mean(taus))
    report("tau of p99 per graph, mean", f"{mean:.3f}", f">= {TARGET}", mean >= TARGET)
    report("tau of p99 per graph, lowest", f"{min(taus):.3f}", "", True)
    for name, ratio in (("p99", screened / simulated), ("mean", means / of_runs)):
        low, middle, high = np.quantile(ratio, [0.05, 0.5, 0.95])
        text = f"{low:.2f}, {middle:.2f}, {high:.2f}"
        report(f"estimated / simulated {name}: 5%, 50%, 95%", text, "", True)
    runs = len(screened)
    times = [1e3 * sum(getattr(each, name) for each in found) / runs for name in TIMES]
    report("CPU ms per estimate, per run", f"{times[0]:.2f}, {times[1]:.1f}", "", True)


TIMES = ("estimate_took_s", "run_took_s")

if __name__ == "__main__":
    main()
