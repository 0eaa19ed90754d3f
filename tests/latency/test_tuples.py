"""Scores by single tuples under an objective of the engine."""

from dataclasses import replace

import numpy as np
import pytest

from streamplace import Placement, Problem, Throughput, simulate
from streamplace.errors import ProblemError, UsageError
from streamplace.latency.tuples import TupleScore, estimate
from streamplace.problem.objective import Model
from streamplace.scoring.registry import evaluator
from streamplace.sim.engine import Settings
from streamplace.sim.tuples import Arrivals
from streamplace.ticks import runs as engine
from tests.support.graphs import loaded_chain

SINGLE = Settings(duration_s=100.0, arrivals="poisson", service="exponential")


def of_tuples(problem: Problem, settings: Settings = SINGLE, model: Model = "engine") -> Problem:
    """Return a problem under the engine with settings."""
    return problem.with_objective(Throughput((1000.0,), model, engine=settings))


def test_scores() -> None:
    problem = of_tuples(loaded_chain(0.5, 0.3, 0.6, rate=1000.0))
    found = simulate(Placement(problem, np.array([0, 0, 1])))
    assert isinstance(found, TupleScore)
    assert (found.throughput, found.relative_throughput) == (1000.0, 1.0)
    assert found.devices[0].utilisation == pytest.approx(0.8, rel=0.05)
    assert found.bottleneck.name == "d0"
    expected = estimate(problem, np.array([0, 0, 1]), Arrivals(), exponential=True)
    assert found.latency_s is not None
    assert found.latency_s["mean"] == pytest.approx(expected.mean, rel=0.15)


def test_a_target_utilisation_slows_devices_down() -> None:
    problem = loaded_chain(0.5, rate=1000.0)
    half = problem.with_objective(Throughput((1000.0,), "engine", 0.625, SINGLE))
    found = simulate(Placement(half, np.array([0])))
    assert isinstance(found, TupleScore)
    assert found.latency_s is not None
    assert found.latency_s["mean"] == pytest.approx(0.0008 / 0.2, rel=0.1)
    assert found.devices[0].utilisation == pytest.approx(0.5, rel=0.05)


def test_throughput_needs_no_run() -> None:
    """Under the settings of single tuples, placements compare as under `bottleneck`."""
    problem = loaded_chain(0.5, 0.8, 0.6, rate=1000.0)
    rows = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.int32)
    expected = evaluator(of_tuples(problem, model="bottleneck")).quality(rows)
    assert evaluator(of_tuples(problem)).quality(rows) == pytest.approx(expected)


def test_overloads_are_refused() -> None:
    problem = of_tuples(loaded_chain(0.5, 0.8, rate=1000.0))
    with pytest.raises(ProblemError, match=r"device 'd0' is used 130.0%.*below 769 tuples/s"):
        simulate(Placement(problem, np.array([0, 0])))


def test_too_many_tuples_are_refused() -> None:
    problem = of_tuples(loaded_chain(0.5, rate=1000.0), replace(SINGLE, duration_s=2e4))
    with pytest.raises(UsageError, match=r"have 20,000,000 tuples.*choose at most 10000 s"):
        simulate(Placement(problem, np.array([0])))


def test_too_many_tuples_at_once_are_refused() -> None:
    problem = of_tuples(loaded_chain(1e-9, 1e-9, rate=1000.0, selectivity=2e5))
    with pytest.raises(ProblemError, match="'op0' sends 200,000 tuples for one"):
        simulate(Placement(problem, np.array([0, 0])))


def test_ticks_refuse_the_settings_of_single_tuples() -> None:
    problem = of_tuples(loaded_chain(0.5, rate=1000.0))
    with pytest.raises(UsageError, match="single tuples have no ticks"):
        engine.run(Placement(problem, np.array([0])))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"arrivals": "poisson"}, "service: must be set where arrivals is"),
        ({"service": "exponential"}, "arrivals: must be set where service is"),
        ({"arrivals": "even", "service": "exponential"}, "arrivals: must be poisson or bursts"),
        (
            {"arrivals": "poisson", "service": "exponential", "queue": 5.0},
            "queue: cannot be combined with arrivals",
        ),
    ],
)
def test_settings_are_checked(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(**fields)  # type: ignore[arg-type]
