"""The fluid model, compared with the tick engine over changing rates and a restart."""

import numpy as np
import pytest

from benchmarks.control.restarts import resuming
from benchmarks.control.simulated.run import JobState, advance
from benchmarks.control.simulated.trace import STEP_S, Trace
from streamplace.control.plans import Deployment
from streamplace.sim.engine import Profile, Scene, Settings
from streamplace.ticks import runs as engine
from tests.support.simulated import CHAIN, SMALL

LARGE = Deployment({"read": ("d0",), "parse": ("d0", "d2"), "store": ("d1", "d3")})
QUEUES = 3 * 2048.0  # tuples that the engine's bounded queues hold, and the fluid model does not


@pytest.mark.parametrize("seed", range(3))
def test_served_and_waiting_tuples(seed: int) -> None:
    """The rate changes every 100 s; after 600 s the job gets more instances."""
    rng = np.random.default_rng(seed)
    levels = rng.uniform(400.0, 1500.0, size=12)
    trace = Trace("steps", np.repeat(levels, 10))
    state, before = advance(CHAIN, trace, JobState(0, SMALL), 60)
    down = (600.0, 602.0)
    then = JobState(60, LARGE, state.waiting, 602.0, down)
    end, after = advance(CHAIN, trace, then, 120)

    placed = [CHAIN.problem(deployment, 1000.0) for deployment in (SMALL, LARGE)]
    at_s = tuple(float(t) for t in np.arange(12) * 10 * STEP_S)
    profile = Profile(at_s, tuple(levels / 1000.0))
    how = Settings(duration_s=1200.0, scheduler="dynamic")
    runs = [engine.simulation(each.problem, how, Scene({0: profile})) for each in placed]
    first = resuming.run_until(runs[0], placed[0].devices, 600.0)
    operators = tuple(
        np.array([int(name[0] == "p") + 2 * int(name[0] == "s") for name in graph.names], np.int32)
        for graph in (each.problem.graph for each in placed)
    )
    last = resuming.resume(
        runs[1],
        first,
        1200.0,
        placed[1].devices,
        downtime_s=2.0,
        operators=(operators[0], operators[1]),
    )
    for found, segments, waiting in ((first, before, state), (last, [*before, *after], end)):
        served = sum(float(each.served.sum()) for each in segments)
        processed = float(found.snapshot.operators["processed"][0])
        assert processed == pytest.approx(served, abs=QUEUES)
        backlog = float(found.snapshot.sources["backlog"].sum())
        assert backlog == pytest.approx(waiting.waiting, abs=QUEUES)
