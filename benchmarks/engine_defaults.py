"""The engine at its default settings against the model `bottleneck`, on random small problems.

Half of the problems have several sources, and half are overloaded. Networks are of both kinds,
`pair` and `nic`, with latencies up to 0.2 s. With one source, the engine's relative throughput must
be within 0.01 of that of `bottleneck`, unless the run has not settled. With several sources, it may
be lower, since sources can throttle each other unequally. If it is lower by more than 0.01, a run
with a tenth of the tick must give the same to within 0.005.

    python -m benchmarks.engine_defaults [--problems N] [--seed N]
"""

import argparse
import time
from collections import Counter

import numpy as np

from benchmarks.speed import report
from streamplace import Cluster, Device, Network, Operator, Placement, Problem, Stream, StreamGraph
from streamplace.scoring.throughput import simulate
from streamplace.sim.engine import Settings
from streamplace.ticks import runs as engine

# largest differences of relative throughput: from `bottleneck`, and between two lengths of a tick
CLOSE, SAME = 0.01, 0.005
MAX_RATE = 2e5  # tuples/s

# outcomes with one source
WITHIN, NOT_WITHIN, NOT_SETTLED = "within", "not within", "not settled"
# outcomes with several sources: not below by more than `CLOSE`; below, and a finer tick agrees;
# below, and a finer tick disagrees
NOT_BELOW, BELOW, UNSTABLE = "not below", "below", "unstable"


def main() -> None:
    """Print one line per figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=2000, help="number; default: 2000")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first problem; default: 0")
    arguments = parser.parse_args()
    counts, seconds = Counter[str](), 0.0
    for seed in range(arguments.seed, arguments.seed + arguments.problems):
        placement = random_placement(seed)
        started = time.process_time()
        result = outcome(placement)
        seconds += time.process_time() - started
        counts[result] += 1
        if result in (NOT_WITHIN, UNSTABLE):
            print(f"  seed {seed}: {result}")
    not_within, unstable = counts[NOT_WITHIN], counts[UNSTABLE]
    print(f"{'figure':52} {'measured':>26} {'target':>14}")
    report("one source: settled, but not within 0.01", str(not_within), "0", not_within == 0)
    report("several sources: below, and a finer tick disagrees", str(unstable), "0", unstable == 0)
    below = counts[BELOW] + unstable
    with_several_sources = counts[NOT_BELOW] + below
    share = below / max(1, with_several_sources)
    text = f"{share:.1%} of {with_several_sources}"
    report("several sources: more than 0.01 below", text, "", True)
    report("one source: not settled", str(counts[NOT_SETTLED]), "", True)
    report("CPU seconds per problem", f"{seconds / arguments.problems:.4f}", "", True)


def outcome(placement: Placement) -> str:
    """Compare the engine with `bottleneck` on one placement; return one of the outcomes above."""
    expected = simulate(placement).relative_throughput
    run = engine.run(placement, Settings(tick_s=None))
    if len(placement.problem.graph.sources) == 1:
        if not run.settled:
            return NOT_SETTLED
        return WITHIN if abs(run.relative_throughput - expected) <= CLOSE else NOT_WITHIN
    if run.relative_throughput >= expected - CLOSE:
        return NOT_BELOW
    finer = engine.run(placement, Settings(tick_s=run.trace.tick_s / 10))
    agrees = abs(finer.relative_throughput - run.relative_throughput) <= SAME
    return BELOW if agrees else UNSTABLE


def random_placement(seed: int) -> Placement:
    """Return a random placement of a random problem."""
    rng = np.random.default_rng(seed)
    count, overloaded = int(rng.integers(3, 13)), rng.random() < 0.5
    sources = int(rng.integers(2, 4)) if rng.random() < 0.5 else 1
    operators = [
        Operator(f"o{v}", int(rng.integers(40)) * 1e4, int(rng.integers(50)) * 200.0)
        for v in range(count)
    ]
    streams = [
        Stream(f"o{u}", f"o{v}", float(rng.choice([0.25, 0.5, 1.0, 1.0, 1.0, 2.0])))
        for v in range(sources, count)
        for u in rng.choice(v, size=min(v, int(rng.choice([1, 1, 1, 2, 3]))), replace=False)
    ]
    sources_of_graph = [o.name for o in operators if o.name not in {s.target for s in streams}]
    shares = rng.random(len(sources_of_graph)) + 0.2
    graph = StreamGraph(
        operators,
        streams,
        source_shares=dict(zip(sources_of_graph, (shares / shares.sum()).tolist(), strict=True)),
    )
    devices = int(rng.integers(2, 6))
    network = Network(
        "nic" if rng.random() < 0.5 else "pair",
        bandwidth_mbps=float(rng.integers(20, 500)),
        latency_s=float(rng.choice([0.0, 0.001, 0.01, 0.05, 0.2])),
        overhead_s=float(rng.choice([0.0, 0.0, 2e-5])),
    )
    cluster = Cluster(
        [
            Device(f"d{d}", int(rng.integers(10, 40)) * 100.0, int(rng.integers(1, 4)))
            for d in range(devices)
        ],
        network,
    )
    device_of = rng.integers(0, devices, size=count)
    at_1000 = Placement(Problem(graph, cluster, source_rate=1000.0), device_of)
    busiest = simulate(at_1000).bottleneck.utilisation
    load = float(rng.uniform(1.05, 4.0)) if overloaded else float(rng.uniform(0.2, 0.98))
    rate = min(MAX_RATE, 1000.0 * load / busiest) if busiest > 0 else 1000.0
    return Placement(Problem(graph, cluster, source_rate=rate), device_of)


if __name__ == "__main__":
    main()
