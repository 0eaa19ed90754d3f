"""Tests for the cases of the study of GiPH."""

import numpy as np
import pytest

import streamplace as sp
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.giph.families.cases import (
    BYTES_PER_UNIT,
    INSTRUCTIONS_PER_UNIT,
    MEAN_BYTES,
    MEAN_COMPUTE,
)
from streamplace.papers.giph.study.registered import (
    ENAS,
    FULL,
    QUICK,
    SEVERAL,
    SINGLE,
    Cases,
    EnasCases,
    experiments,
)
from streamplace.papers.giph.study.systems import random_starts
from streamplace.placers.registry import make_placer
from streamplace.placers.running import run_placer
from streamplace.problem.makespan import Makespan
from streamplace.scoring.registry import evaluator


def test_neural_networks_have_40_operators_and_8_devices() -> None:
    problems = EnasCases(count=3, seed=1).problems(sp.Makespan())
    assert len({problem.graph.sha256 for problem in problems}) == 3
    assert len({problem.cluster.devices for problem in problems}) == 3
    for problem in problems:
        assert len(problem.graph.names) == 40
        assert len(problem.cluster.devices) == 8
        assert problem.feasibility.allowed.all()


def test_their_means_are_those_of_task_graphs() -> None:
    """Work and bytes are multiplied by two numbers, so that the ratios within a graph stay."""
    problems = EnasCases(count=60, seed=2).problems(sp.Makespan())
    work = np.mean([problem.graph.instructions.mean() for problem in problems])
    sent = np.mean([problem.graph.stream_payload_bytes.mean() for problem in problems])
    assert work == pytest.approx(MEAN_COMPUTE * INSTRUCTIONS_PER_UNIT, rel=0.1)
    assert sent == pytest.approx(MEAN_BYTES * BYTES_PER_UNIT, rel=0.1)
    recipe = sp.Recipe("enas-ptb:backward=false", 60, range(40, 41), 2)
    ratios = problems[5].graph.instructions / recipe.graph(5).instructions
    np.testing.assert_allclose(ratios, ratios[0])


def test_placements_differ_on_them() -> None:
    (problem,) = EnasCases(count=1, seed=1).problems(sp.Makespan())
    heft, single = (
        float(evaluator(problem).loss(make_placer(name)(problem, rng).devices)[0])
        for name, rng in (("heft", np.random.default_rng(0)), ("single", np.random.default_rng(0)))
    )
    assert heft < 0.95 * single


def test_tests_are_not_among_the_training_cases() -> None:
    for size in (QUICK, FULL):
        experiment = experiments(size)[ENAS]
        assert experiment.train.seed != experiment.tests[ENAS].seed
        assert experiment.tests[ENAS].count == size.cases


@pytest.mark.long
@pytest.mark.parametrize(
    ("setting", "heft", "best", "start"), [(SINGLE, 1.25, 1.84, 2.09), (SEVERAL, 1.31, 1.74, 1.98)]
)
def test_levels_of_the_named_cases(setting: str, heft: float, best: float, start: float) -> None:
    """SLRs are those of the released code on the released cases, within 2%.

    They are of HEFT, of the best of two random placements per operator, and of one of them.
    """
    test = f"giph-code:cases={setting}:split=test"
    problems = Cases(test, 60).problems(Makespan())
    starts = random_starts(problems, 0)
    found = []
    for number, (problem, one) in enumerate(zip(problems, starts, strict=True)):
        longest = makespan_evaluator(problem).compiled.fastest.longest
        count = 2 * len(problem.graph.names)
        rows = [one]
        for placer in ("heft", f"random:evaluations={count}"):
            rng = np.random.default_rng([number])
            rows.append(run_placer(problem, placer, rng, None).placement.devices)
        found.append([float(evaluator(problem).loss(row)[0]) / longest for row in rows])
    assert np.mean(found, axis=0) == pytest.approx([start, heft, best], rel=0.02)
