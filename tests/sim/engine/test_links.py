"""Links of the engine, which pass on sets in the order of streams or set by set."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.reference.random_problems import random_problem
from sim.engine.settings import Settings
from sim.engine.simulation import Simulation
from streamplace import Cluster, Problem
from streamplace.problem.cluster import Uplink
from streamplace.scoring.flow import flow as flow_of

SEEDS = range(30)


@pytest.mark.parametrize("backpressure", [True, False])
def test_both_ways_of_passing_on_give_the_same_bytes(backpressure: bool) -> None:
    """An uplink that no stream crosses has the links served set by set."""
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
        latency_s = float(rng.choice([0.0, 0.001, 0.12]))
        in_order, by_set = (
            Simulation(flow, np.full(len(flow.gap_s), latency_s), how).run(devices)
            for flow in map(flow_of, (problem, with_an_unused_uplink(problem)))
        )
        assert in_order.arrived.tobytes() == by_set.arrived.tobytes()
        assert in_order.latency.tobytes() == by_set.latency.tobytes()
        for name in ("streams", "operators", "devices", "sources", "links"):
            for column, values in getattr(in_order.end, name).items():
                assert values.tobytes() == getattr(by_set.end, name)[column].tobytes(), column
        served += len(in_order.link) > 1
    assert served > len(SEEDS) / 4


def with_an_unused_uplink(problem: Problem) -> Problem:
    """Return a problem whose devices are all in one group, with an uplink."""
    cluster = problem.cluster
    devices = [replace(device, group="all") for device in cluster.devices]
    network = replace(cluster.network, uplinks=(Uplink("all", 1.0, 1.0),))
    changed = Problem(
        problem.graph,
        Cluster(devices, network),
        objective=problem.objective,
        constraints=problem.constraints,
    )
    assert flow_of(changed).uplinks > 0
    return changed
