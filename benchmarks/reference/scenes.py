"""Hypothesis strategies: settings of the engine, and scenes."""

from hypothesis import strategies as st

from streamplace import Problem
from streamplace.scoring.flow import flow as flow_of
from streamplace.sim.engine.scene import Profile, Scene, Speed, Window
from streamplace.sim.engine.settings import Settings


@st.composite
def engine_settings(draw: st.DrawFn) -> Settings:
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
    """Return a scene: profiles of some sources, windows of some operators, changes of speed."""
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
