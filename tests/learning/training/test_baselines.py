"""Placers beside a policy on held-out problems."""

from typing import Any

import pytest

from benchmarks.reference.trainings import config
from streamplace.errors import PlacementError
from streamplace.families import Recipe
from streamplace.learning.training.baselines import baselines
from streamplace.placers.running import run_placer
from streamplace.problem.makespan import Makespan
from streamplace.problem.objective import Model
from streamplace.problem.problem import Problem
from streamplace.workflows.compare import compare

RUN = "streamplace.learning.training.baselines.run_placer"
RECIPE = Recipe("dream", 3, range(8, 12), seed=4)


def problems(model: Model = "path-average") -> list[Problem]:
    return [Problem(RECIPE.graph(i), "5x2500", source_rate=1e4, model=model) for i in range(3)]


def test_rewards_are_those_of_the_placers() -> None:
    (stage,) = config().stage
    relative = stage.model_copy(update={"reward": "relative"})
    found = baselines(problems(), relative)
    compared = compare(
        [problem.graph for problem in problems()], ["metis"], [1e4], model="path-average", jobs=1
    )
    assert list(found) == ["validation_metis", "validation_search"]
    assert found["validation_metis"] == pytest.approx(compared.relative_throughput.mean())
    assert found["validation_search"] > found["validation_metis"]
    of_losses = baselines(problems(), stage.model_copy(update={"reward": "log-loss"}))
    assert of_losses["validation_metis"] != found["validation_metis"]
    assert baselines([], relative) == {}


def test_list_schedules_are_baselines_of_makespans_only() -> None:
    (stage,) = config().stage
    makespans = [Problem(one.graph, "3x2500", objective=Makespan()) for one in problems()]
    names = [f"validation_{name}" for name in ("metis", "heft", "search")]
    assert list(baselines(makespans, stage)) == names


def test_placers_do_not_run_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    (stage,) = config().stage
    models = set()

    def observed(problem: Problem, *more: Any) -> Any:
        models.add(problem.model)
        return run_placer(problem, *more)

    monkeypatch.setattr(RUN, observed)
    assert len(baselines(problems("engine")[:1], stage)) == 2
    assert models == {"bottleneck"}


def test_a_placer_that_fails_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    (stage,) = config().stage

    def failing(problem: Problem, placer: str, rng: Any) -> Any:
        if placer == "metis":
            raise PlacementError("no placement was found")
        return run_placer(problem, placer, rng)

    monkeypatch.setattr(RUN, failing)
    assert list(baselines(problems(), stage)) == ["validation_search"]
