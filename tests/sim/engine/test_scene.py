"""Scenes: profiles, windows and speeds."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace import Placement
from streamplace.errors import ProblemError
from streamplace.scoring.flow import flow as flow_of
from streamplace.sim.engine import Profile, Scene, Settings, Simulation, Speed, Window
from streamplace.ticks import runs as engine
from tests.support.graphs import loaded_chain


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """Draw profiles of every kind."""
    gaps = draw(st.lists(st.sampled_from([0.3, 1.0, 2.5]), min_size=1, max_size=4))
    at = np.cumsum(gaps) - draw(st.sampled_from([0.0, gaps[0]]))
    factor = st.sampled_from([0.0, 0.5, 1.0, 4.0])
    factors = draw(st.lists(factor, min_size=len(at), max_size=len(at)))
    every = draw(st.sampled_from([None, float(at[-1]) + 0.7]))
    return Profile(tuple(at.tolist()), tuple(factors), draw(st.booleans()), every)


def factor_at(profile: Profile, t: float) -> float:
    """Return the factor at a time, as defined in the docstring of Profile."""
    if profile.every_s is not None:
        t %= profile.every_s
    if profile.linear:
        return float(np.interp(t, profile.at_s, profile.factor))
    before = [f for at, f in zip(profile.at_s, profile.factor, strict=True) if at <= t]
    return before[-1] if before else profile.factor[0]


@given(profiles(), st.sampled_from([0.2, 3.3, 11.0]))
def test_a_profile_is_integrated(profile: Profile, until: float) -> None:
    """A profile is linear between its times, so the mean is the value at the midpoint."""
    period = profile.every_s or 2 * until
    turns = np.arange(int(until / period) + 1) * period
    times = {float(turn + at) for turn in turns for at in (0.0, *profile.at_s)}
    edges = sorted({0.0, until, *(t for t in times if t < until)})
    expected = sum((b - a) * factor_at(profile, (a + b) / 2) for a, b in pairwise(edges))
    got = profile.seconds_at_full_rate(np.array([until]))[0]
    assert got == pytest.approx(expected, abs=1e-9)
    assert profile.seconds_at_full_rate(np.zeros(1))[0] == 0.0


def test_ramp_and_bursts_by_hand() -> None:
    t = np.array([0.0, 5.0, 10.0, 20.0])
    assert Profile.ramp(10.0).seconds_at_full_rate(t).tolist() == [0.0, 1.25, 5.0, 15.0]
    assert Profile.bursts(10.0, 2.0, 3.0).seconds_at_full_rate(t).tolist() == [0.0, 9.0, 14.0, 28.0]


def test_a_source_follows_its_profile() -> None:
    problem = loaded_chain(0.1, 0.1)
    scene = Scene({0: Profile((0.0, 30.0), (1.0, 0.25))})
    series = engine.run(Placement(problem, [0, 1]), scene=scene, every_s=1.0).series
    assert series.offered[:30, 0] == pytest.approx(1000.0)
    assert series.processed[35:, 1] == pytest.approx(250.0)


@pytest.mark.parametrize(
    ("window", "rate"),
    [
        (Window(2.0, 2.0), 1000.0),
        (Window(2.0, 2.0, ratio=0.25), 250.0),
        (Window(6.0, 2.0, ratio=0.25), 750.0),
        (Window(6.0, 2.0, count=10.0), 5.0),
    ],
)
def test_the_output_rate_of_windows(window: Window, rate: float) -> None:
    """The rate is in tuples/s; every tuple is in size / advance windows."""
    found = engine.run(
        Placement(loaded_chain(0.1, 0.1, 0.01), [0, 0, 1]), scene=Scene(windows={1: window})
    )
    assert found.operator_rates[1] == pytest.approx(1000.0)
    assert found.sink_rates[0] == pytest.approx(rate, rel=0.05)
    assert found.throughput == pytest.approx(1000.0, rel=0.05)
    assert found.path_mean_throughput == pytest.approx(1000.0, rel=0.05)


def test_a_window_delays_tuples() -> None:
    """A window delays tuples by half an advance on average."""
    found = engine.run(
        Placement(loaded_chain(1e-6, 1e-6, 1e-6), [0, 0, 0]),
        Settings(queue=0),
        Scene(windows={1: Window(2.0, 2.0)}),
    )
    latency = found.latency_s()
    assert latency is not None
    assert latency["mean"] == pytest.approx(1.0, abs=1e-6)


def test_an_unsent_window_blocks_its_operator() -> None:
    """A window emits two tuples per tuple, and the next device can process half of them."""
    problem = loaded_chain(0.1, 0.1, 1.0)
    scene = Scene(windows={1: Window(1.0, 1.0, ratio=2.0)})
    found = engine.run(Placement(problem, [0, 0, 1]), Settings(duration_s=600.0), scene)
    assert found.sink_rates[0] == pytest.approx(1000.0, rel=0.02)
    assert found.operator_rates[1] == pytest.approx(500.0, rel=0.05)  # in bursts after each block
    assert found.operator_blocked[1] > 0.3
    assert not found.trace.end.sources["dropped"].any()


def test_a_device_stops_and_the_source_waits() -> None:
    problem = loaded_chain(0.5, 0.5)
    scene = Scene(speeds=(Speed(1, 10.0, 0.0), Speed(1, 30.0, 1.0)))
    series = engine.run(Placement(problem, [0, 1]), scene=scene, every_s=1.0).series
    assert series.processed[5:10, 1] == pytest.approx(1000.0)
    assert not series.processed[10:30, 1].any()
    assert series.processed[20:30, 0] == pytest.approx(0.0, abs=1e-9)
    assert series.processed[31:40, 1] == pytest.approx(2000.0)  # it catches up
    assert series.backlog[29, 0] == pytest.approx(1000.0 * 20, rel=0.15)


def test_a_stopped_device_is_busy_while_tuples_wait_for_it() -> None:
    """A stopped device counts as busy from its first tuple on, and as idle without tuples."""
    scene = Scene(speeds=(Speed(1, 0.0, 0.0), Speed(0, 40.0, 0.0)))
    found = engine.run(Placement(loaded_chain(0.1, 0.1), [0, 1]), scene=scene, every_s=1.0)
    first_tick = found.trace.tick_s  # nothing arrives in it
    assert found.series.device_utilisation[0, 1] == pytest.approx(1.0 - first_tick)
    assert found.series.device_utilisation[1:, 1] == pytest.approx(1.0)
    assert found.series.device_utilisation[39, 0] == pytest.approx(0.0, abs=1e-9)
    assert found.series.device_utilisation[41, 0] == pytest.approx(1.0)  # its source gets tuples
    unused = engine.run(
        Placement(loaded_chain(0.1, 0.1), [0, 0]), scene=Scene(speeds=(Speed(1, 0.0, 0.0),))
    )
    assert unused.device_utilisation[1] == 0.0


def test_a_scene_that_offers_nothing_while_measured_is_refused() -> None:
    """The offered rate of seconds 20 to 61 is known before the first tick."""
    scene = Scene({0: Profile((0.0, 10.0), (1.0, 0.0))})
    placement = Placement(loaded_chain(0.1, 0.1), [0, 1])
    with pytest.raises(ProblemError, match=r"scene: sources: nothing .* from second 20 on"):
        engine.run(placement, scene=scene)
    assert engine.run(placement, Settings(measure_from_s=0.0), scene).throughput > 0.0


def test_a_slowed_device_processes_less() -> None:
    scene = Scene(speeds=(Speed(1, 0.0, 0.5),))
    found = engine.run(Placement(loaded_chain(0.1, 1.0), [0, 1]), scene=scene)
    assert found.throughput == pytest.approx(500.0, rel=1e-3)
    assert found.device_utilisation[1] == pytest.approx(1.0)


def with_scene(scene: Scene) -> Simulation:
    """Return a simulation of a pipeline of three operators on two devices."""
    flow = flow_of(loaded_chain(1, 1, 1))
    return Simulation(flow, np.zeros(len(flow.gap_s)), None, scene)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Profile((), ()), "the same length, at least 1"),
        (lambda: Profile((0.0, 1.0), (1.0,)), "the same length"),
        (lambda: Profile((1.0, 1.0), (1.0, 2.0)), "must be increasing"),
        (lambda: Profile((0.0, 5e-324), (0.0, 1.0), linear=True), "too close"),
        (lambda: Profile((0.0,), (-1.0,)), "must be between 0 and 1e\\+12"),
        (lambda: Profile((0.0,), (float("nan"),)), "must be between 0 and 1e\\+12"),
        (lambda: Profile((0.0, 2.0), (1.0, 2.0), every_s=2.0), "above the last"),
        (lambda: Window(2.0, 0.0), "above 0"),
        (lambda: Window(1.0, 2.0), "at most its size"),
        (lambda: Window(2.0, 0.7), "whole multiple"),
        (lambda: Window(2.0, 1.0, count=-1.0), "must be between 0 and 1e\\+12"),
        (lambda: Speed(0, 1.0, -0.5), "must be between 0 and 1e\\+12"),
        (lambda: Window(1e12, 1e-3), "1,000,000 advances"),
        (
            lambda: with_scene(Scene({1: Profile((0.0,), (1.0,))})),
            "only a source can have a profile",
        ),
        (lambda: with_scene(Scene({}, {0: Window(1, 1)})), "a source cannot have a window"),
        (lambda: with_scene(Scene({}, {2: Window(1, 1)})), "a sink cannot have a window"),
        (lambda: with_scene(Scene({}, {1: Window(1, 1, ratio=0)})), "no tuple ever reaches"),
        (lambda: with_scene(Scene({}, {1: Window(1, 1, count=0)})), "no tuple ever reaches"),
        (lambda: with_scene(Scene({7: Profile((0.0,), (1.0,))})), "unknown operator 7"),
        (lambda: with_scene(Scene(speeds=(Speed(2, 0, 1),))), "unknown device 2"),
    ],
)
def test_invalid_scenes_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
