"""The compiled engine, compared with a plain Python engine."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from benchmarks.reference.engine import PlainEngine
from benchmarks.reference.grouped_problems import grouped_problem
from benchmarks.reference.scenes import engine_settings, scenes
from benchmarks.reference.strategies import cases
from streamplace import Cluster, Network, Operator, Problem, Stream, StreamGraph
from streamplace.scoring.flow import flow as flow_of
from streamplace.sim.engine import EngineError
from streamplace.sim.engine import simulation as engine
from streamplace.sim.engine.scene import Scene
from streamplace.sim.engine.settings import Settings
from streamplace.sim.engine.simulation import Simulation


@given(st.data(), cases(shared=True), engine_settings())
def test_both_engines_agree(data: Any, case: tuple[Problem, list[int]], how: Settings) -> None:
    problem, devices = case
    scene = data.draw(scenes(problem)) if data.draw(st.booleans()) else Scene()
    latency = data.draw(st.sampled_from([0.0, 0.001, 0.12]))
    try:
        simulation = simulation_of(problem, how, latency, scene)
        tick_s = simulation.tick_for(np.array(devices))
        assume(how.first_duration_s / tick_s < 400)
        simulation.due(simulation.timed(tick_s))
    except (ValueError, EngineError):
        reject()  # no tuple ever reaches a sink, or nothing is offered
    same(simulation, devices)


@pytest.mark.parametrize("backpressure", [True, False])
@pytest.mark.parametrize("seed", range(25))
def test_both_engines_agree_where_groups_of_devices_share_links(
    seed: int, backpressure: bool
) -> None:
    problem, rng = grouped_problem(seed, max_placements=2_000), np.random.default_rng(seed)
    devices = rng.integers(len(problem.cluster.devices), size=len(problem.graph.names))
    queue = float(rng.choice([0.0, 300.0, 5000.0]))
    how = Settings(1.0, 0.1, queue=queue, backpressure=backpressure)
    if seed % 2:
        how = replace(how, scheduler="dynamic", allocation="uniform")
    simulation = simulation_of(problem, how, float(rng.choice([0.0, 0.001, 0.12])))
    if how.first_duration_s / simulation.tick_for(devices) < 400:
        same(simulation, devices.tolist())


@pytest.mark.parametrize("network", ["pair", "nic"])
def test_event_sets_are_added_before_a_tick_needs_them(
    network: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chain gets its CPU time in several passes, and sends over a link in each pass."""
    monkeypatch.setattr(engine, "LEAST_ROOM", 1)
    monkeypatch.setattr(engine, "ROOM", 3)
    heavy, rate = 12, 1000.0
    chain = [f"{kind}{i}" for i in range(heavy) for kind in ("heavy", "light")]
    sides = [(f"heavy{i}", f"side{i}-{k}") for i in range(heavy) for k in range(6)]
    operators = [
        Operator(name, 2500e6 * (0.9 / heavy if name.startswith("heavy") else 0.001) / rate, 300)
        for name in chain
    ]
    operators += [Operator(name, 1e4, 0) for _, name in sides]
    streams = [Stream(a, b) for a, b in [*pairwise(chain), *sides]]
    cluster = Cluster.equal(2, mips=2500, network=Network(network, 100.0))
    problem = Problem(StreamGraph(operators, streams), cluster, source_rate=rate)
    devices = [0] * len(chain) + [1] * len(sides)
    for backpressure in (True, False):
        how = Settings(3.0, 0.1, "dynamic", "uniform", backpressure=backpressure)
        same(simulation_of(problem, how), devices)


def simulation_of(
    problem: Problem, how: Settings, latency_s: float = 0.0, scene: Scene | None = None
) -> Simulation:
    flow = flow_of(problem)
    return Simulation(flow, np.full(len(flow.gap_s), latency_s), how, scene)


def same(simulation: Simulation, devices: list[int]) -> None:
    """Check that both engines produce the same run."""
    flow, scene = simulation.flow, simulation.scene
    raw = simulation.run(np.array(devices))
    plain = PlainEngine(flow, devices, simulation.latency_s, simulation.settings, raw.tick_s, scene)
    plain.run()
    end = raw.end

    def close(actual: Any, expected: Any) -> None:
        np.testing.assert_allclose(actual, expected, rtol=1e-7, atol=1e-6)

    close(end.operators["processed"], plain.processed)
    close(end.streams["waiting"], [one.waiting for one in plain.streams])
    close(end.streams["in_flight"], [one.in_flight for one in plain.streams])
    close(end.streams["sent"], [one.sent for one in plain.streams])
    close(end.operators["busy_s"], plain.operator_busy_s)
    close(end.operators["blocked_s"], plain.blocked_s)
    close(end.devices["busy_s"], plain.busy_s)
    sources = sorted(plain.backlog)
    close(end.sources["dropped"], [plain.dropped[v] for v in sources])
    close(end.sources["backlog"], [plain.backlog[v] for v in sources])
    for name in ("busy_s", "full_s", "stalled_s"):
        spent = np.zeros(len(flow.gap_s))
        spent[raw.link[1:]] = end.links[name][1:]
        expected = getattr(plain.links, name)
        close(spent, [expected.get(i, 0.0) for i in range(len(spent))])
    arrived, late = np.zeros_like(raw.arrived), np.zeros_like(raw.latency)
    ends = zip(flow.sinks[raw.sink].tolist(), raw.stream.tolist(), strict=True)
    column = {end: c for c, end in enumerate(ends)}
    for tick, v, e, size, seconds in plain.arrivals:
        c = column[v, e]
        arrived[tick, c] = size
        late[tick, c] = seconds
    close(raw.arrived, arrived)
    close(raw.latency * arrived, late * arrived)
    achieved = np.zeros_like(end.reached)
    for _, v, source, total in plain.reached:
        achieved[list(flow.sinks).index(v), sources.index(source)] += total
    close(end.reached, achieved)
