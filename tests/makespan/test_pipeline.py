"""Figures of pipelines: energy as a plain sum, frequency, and relocations over it."""

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import ProblemError
from streamplace.makespan.pipeline import PipelineFigures, energy_joules, pipeline_figures
from streamplace.papers.giph.sensor_fusion.scenario import TIMES_S, WATTS, relocation_cost
from streamplace.problem.relocation import RelocationCost


def fusion() -> sp.Problem:
    """Return the problem of one intersection."""
    recipe = sp.Recipe("sensor-fusion:block=1", 1, seed=1)
    return sp.Problem(recipe.graph(0), recipe.cluster(0), objective=sp.Makespan())


def test_the_energy_is_that_of_busy_devices() -> None:
    problem, rng = fusion(), np.random.default_rng(0)
    allowed = problem.feasibility.allowed[problem.feasibility.unit_of]
    rows = np.array([[rng.choice(np.flatnonzero(row)) for row in allowed] for _ in range(4)])
    expected = [
        sum(
            TIMES_S[what][kind] * WATTS[kind]
            for v, d in enumerate(row)
            if (what := problem.graph.type[v]) in TIMES_S
            and (kind := str(problem.cluster.devices[d].kind))
        )
        for row in rows.tolist()
    ]
    np.testing.assert_allclose(energy_joules(problem, rows, WATTS), expected)


def test_operators_that_run_at_once_take_the_watts_each() -> None:
    cluster = sp.Cluster([sp.Device("d", 1.0, cores=2, kind="A")])
    graph = sp.StreamGraph([("a", 1e6, 0.0), ("b", 3e6, 0.0)], [])
    problem = sp.Problem(graph, cluster, objective=sp.Makespan(batch=2))
    figures = pipeline_figures(sp.Placement(problem, [0, 0]), {"A": 10.0})
    assert (figures.makespan_s, figures.energy_j) == (3.0, 40.0)


def test_frequency_and_relocations_follow_the_makespan() -> None:
    problem = fusion()
    before = sp.place(
        problem.graph, problem.cluster, placer="random", objective=sp.Makespan()
    ).placement
    result = sp.place(problem.graph, problem.cluster, placer="heft", objective=sp.Makespan())
    figures = pipeline_figures(result.placement, WATTS, relocation_cost(), before)
    assert figures.makespan_s == result.score.value
    assert figures.frequency_hz * figures.makespan_s == pytest.approx(1)
    assert figures.energy_j == energy_joules(problem, result.placement.devices, WATTS)[0]
    assert figures.relocation_s == relocation_cost().seconds(problem, before, result.placement)
    assert figures.relocation_s > 0
    over = figures.relocation_s / figures.frequency_hz
    assert figures.relocation_over_frequency == pytest.approx(over)
    alone = pipeline_figures(result.placement, WATTS, RelocationCost())
    assert alone.relocation_s == alone.relocation_over_frequency == 0


def test_a_pass_without_work_has_no_finite_frequency() -> None:
    assert PipelineFigures(0.0, 0.0).frequency_hz == np.inf


def test_kinds_without_watts_are_refused() -> None:
    problem = fusion()
    with pytest.raises(ProblemError, match="watts: none for kind 'C'"):
        energy_joules(problem, np.zeros(len(problem.graph.names), int), {"A": 1.0, "B": 1.0})
    plain = sp.Problem(problem.graph.__class__([("a", 1.0, 0.0)], []), objective=sp.Makespan())
    with pytest.raises(ProblemError, match="watts: none for a device without a kind"):
        energy_joules(plain, np.array([0]), WATTS)
