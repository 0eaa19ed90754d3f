"""The compiled engine does, tick for tick, what the plain one does."""

from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sim.engine.scene import Profile, Scene, Speed, Window
from sim.engine.settings import Settings
from sim.engine.simulation import Simulation
from streamplace.flows import flow as flow_of
from streamplace.problem import Problem
from tests.sim.engine.plain import PlainEngine
from tests.strategies import cases


@st.composite
def told(draw: st.DrawFn) -> Settings:
    """Return settings of a short run."""
    return Settings(
        duration_s=draw(st.sampled_from([1.0, 3.0])),
        tick_s=draw(st.sampled_from([0.1, 0.05])),
        scheduler=draw(st.sampled_from(["default", "dynamic"])),
        allocation=draw(st.sampled_from(["uniform", "weighted"])),
        queue=draw(st.sampled_from([0.0, 300.0, 5000.0])),
        backpressure=draw(st.booleans()),
        source_queue=draw(st.sampled_from([0.0, 300.0])),
        measure_from_s=draw(st.sampled_from([0.0, 0.5])),
    )


@st.composite
def scenes(draw: st.DrawFn, problem: Problem) -> Scene:
    """Return profiles of some sources, windows at some operators, and changes of speed."""
    flow = flow_of(problem)
    has_inputs = set(flow.target.tolist())
    profile = st.builds(
        lambda factors, linear: Profile(
            tuple(0.3 * i for i in range(len(factors))), tuple(factors), linear
        ),
        st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=1, max_size=4),
        st.booleans(),
    )
    window = st.builds(
        lambda advance, slots, ratio, count: Window(advance * slots, advance, ratio, count),
        st.sampled_from([0.1, 0.4]),
        st.integers(1, 3),
        st.sampled_from([0.5, 2.0]),
        st.sampled_from([None, 0.0, 40.0]),
    )
    profiles, windows = {}, {}
    for v in range(flow.operators):
        if v not in has_inputs and draw(st.booleans()):
            profiles[v] = draw(profile)
        elif v in has_inputs and draw(st.integers(0, 3)) == 0:
            windows[v] = draw(window)
    speed = st.builds(
        Speed,
        st.integers(0, flow.devices - 1),
        st.sampled_from([0.0, 0.45]),
        st.sampled_from([0.0, 0.5, 2.0]),
    )
    return Scene(profiles, windows, tuple(draw(st.lists(speed, max_size=2))))


@settings(max_examples=100, deadline=None)
@given(st.data(), cases(), told())
def test_the_same(data: Any, case: tuple[Problem, list[int]], how: Settings) -> None:
    problem, devices = case
    flow = flow_of(problem)
    scene = data.draw(scenes(problem)) if data.draw(st.booleans()) else Scene()
    latency = np.full(len(flow.gap_s), data.draw(st.sampled_from([0.0, 0.001, 0.12])))
    simulation = Simulation(flow, latency, how, scene)
    assume(how.duration_s / simulation.tick_for(np.array(devices, dtype=np.int32)) < 400)
    raw = simulation.run(np.array(devices))
    plain = PlainEngine(flow, devices, latency, how, raw.tick_s, scene)
    plain.run()
    end = raw.end

    def close(mine: Any, theirs: Any) -> None:
        np.testing.assert_allclose(mine, theirs, rtol=1e-7, atol=1e-6)

    close(end.operators["processed"], plain.processed)
    close(end.streams["waiting"], [one.waiting for one in plain.streams])
    close(end.streams["flying"], [one.flying for one in plain.streams])
    close(end.streams["sent"], [one.sent for one in plain.streams])
    close(end.devices["busy_s"], plain.busy_s)
    close(end.sources["dropped"], [plain.dropped[v] for v in end.sources["operator"].tolist()])
    busy = np.zeros(len(flow.gap_s))
    busy[raw.link[1:]] = end.links["busy_s"][1:]
    close(busy, [plain.link_busy_s.get(i, 0.0) for i in range(len(busy))])
    first = raw.begin.tick
    arrived, late = np.zeros_like(raw.arrived), np.zeros_like(raw.latency)
    for tick, v, size, seconds in plain.arrivals:
        if tick >= first:
            s = list(flow.sinks).index(v)
            arrived[tick - first, s] = size
            late[tick - first, s] = seconds
    close(raw.arrived, arrived)
    close(raw.latency * arrived, late * arrived)
    reached = np.zeros_like(end.reached)
    sources = sorted(plain.backlog)
    for _, v, source, total in plain.reached:
        reached[list(flow.sinks).index(v), sources.index(source)] += total
    close(end.reached, reached)
