"""Links of the engine, which pass on sets in one walk through the streams or set by set."""

import numpy as np
import pytest

from benchmarks.reference.random_problems import random_problem
from streamplace.scoring.flow import flow as flow_of
from streamplace.sim.engine import simulation
from streamplace.sim.engine.settings import Settings

SEEDS = range(30)


@pytest.mark.parametrize("backpressure", [True, False])
def test_both_ways_of_passing_on_give_the_same_bytes(
    backpressure: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = 0
    for seed in SEEDS:
        problem, rng = random_problem(seed, max_placements=2_000), np.random.default_rng(seed)
        if problem.cluster.network.kind != "pair":
            continue  # interfaces are served set by set in any case
        devices = rng.integers(len(problem.cluster.devices), size=len(problem.graph.names))
        how = Settings(
            3.0,
            0.1,
            "dynamic" if seed % 3 else "default",
            "uniform" if seed % 2 else "weighted",
            queue=300.0,
            backpressure=backpressure,
        )
        flow, latency_s = flow_of(problem), float(rng.choice([0.0, 0.001, 0.12]))
        runs = []
        for walked in (0, 10**9):
            monkeypatch.setattr(simulation, "WALKED", walked)
            latencies_s = np.full(len(flow.gap_s), latency_s)
            runs.append(simulation.Simulation(flow, latencies_s, how).run(devices))
        in_order, by_set = runs
        assert in_order.arrived.tobytes() == by_set.arrived.tobytes()
        assert in_order.latency.tobytes() == by_set.latency.tobytes()
        for name in ("streams", "operators", "devices", "sources", "links"):
            for column, values in getattr(in_order.end, name).items():
                assert values.tobytes() == getattr(by_set.end, name)[column].tobytes(), column
        served += len(in_order.link) > 1
    assert served > len(SEEDS) / 4
