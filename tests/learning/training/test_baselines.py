"""Placers beside a policy on held-out problems."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.reference.trainings import config
from streamplace.errors import PlacementError
from streamplace.families import Recipe
from streamplace.learning.training import baselines as module
from streamplace.learning.training.loop import Loop, validation
from streamplace.learning.training.problems import repair_rows
from streamplace.learning.training.stages import Stage
from streamplace.placers.running import run_placer
from streamplace.problem.makespan import Makespan
from streamplace.problem.objective import Model
from streamplace.problem.problem import Problem
from streamplace.workflows.compare import compare
from tests.support.stages import loop_of, small_policy

RUN = "streamplace.learning.training.baselines.run_placer"
RECIPE = Recipe("dream", 3, range(8, 12), seed=4)


def problems(model: Model = "path-average") -> list[Problem]:
    return [Problem(RECIPE.graph(i), "5x2500", source_rate=1e4, model=model) for i in range(3)]


def baselines(problems: list[Problem], stage: Stage) -> dict[str, float]:
    """Return the mean reward of each placer that places all problems."""
    rewards = module.rewards_of(module.baselines(problems) or {}, problems, stage)
    return {name: row.mean() for name, row in rewards.items() if not np.isnan(row).any()}


def test_rewards_are_those_of_the_placers() -> None:
    (stage,) = config().stage
    relative = stage.model_copy(update={"reward": "relative"})
    found = baselines(problems(), relative)
    compared = compare(
        [problem.graph for problem in problems()], ["metis"], [1e4], model="path-average", jobs=1
    )
    assert list(found) == ["validation_metis", "validation_search"]
    assert found["validation_metis"] == pytest.approx(compared.values.mean())
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


def test_checkpoints_keep_placements_also_of_placers_that_fail() -> None:
    placed = module.baselines(problems()) or {}
    length = len(placed["baselines.metis"])
    state = {"baselines.metis": torch.full((length,), -1, dtype=torch.int32)}
    assert module.restore_baselines(placed, problems()).keys() == placed.keys()
    assert module.restore_baselines(state | {"memory.best": torch.ones(1)}, problems()) == state
    assert module.restore_baselines({}, problems()) == {}
    with pytest.raises(ValueError, match=r"baselines\.metis: wrong shape"):
        module.restore_baselines(state, problems()[:2])
    state["baselines.metis"][0] = 5
    with pytest.raises(ValueError, match=r"baselines\.metis: devices out of range"):
        module.restore_baselines(state, problems())


def test_a_run_places_once_over_stages_and_resumes(monkeypatch: pytest.MonkeyPatch) -> None:
    (stage,) = config().stage
    calls: list[str] = []

    def observed(problem: Problem, placer: str, rng: Any) -> Any:
        calls.append(placer)
        return run_placer(problem, placer, rng)

    def new_loop() -> Loop:
        values = [stage.model_copy(update=more).model_dump() for more in ({}, {"reward": "loss"})]
        alone = loop_of([one | {"epochs": 1} for one in values], small_policy(), problems())
        return Loop(alone.learner, alone.stages, alone.learner.encoded)

    monkeypatch.setattr(RUN, observed)
    first, resumed = new_loop(), new_loop()
    records: list[dict[str, Any]] = []
    for record in first.steps():
        if "validation" in record and not records:
            resumed.restore(replace(first.position), first.state())
        if "validation" in record:
            records.append(record)
    (last,) = [record for record in resumed.steps() if "validation" in record]
    assert len(calls) == 2 * len(problems())
    assert records[0]["validation_metis"] > 0 > records[1]["validation_metis"]
    assert last["validation_metis"] == records[1]["validation_metis"]


def test_other_processes_have_the_placements_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    placed = module.baselines(problems()) or {}
    monkeypatch.setattr(RUN, lambda *more: pytest.fail("a placer ran"))
    (stage,) = config().stage
    alone = loop_of([stage.model_dump() | {"epochs": 1}], small_policy(), problems())
    workers = alone.learner.workers
    monkeypatch.setattr(workers, "rank", 1)
    loop = Loop(alone.learner, alone.stages, alone.learner.encoded)
    steps = loop.steps()
    *_, before = (next(steps) for _ in range(len(loop.steps_of(0)) - 1))
    assert "validation" not in before
    of_both = iter([[placed, None], [None, None], [False, False]])
    monkeypatch.setattr(workers, "gathered", lambda value: next(of_both, [value, value]))
    (last,) = steps
    assert last["validation_metis"] > 0
    assert loop.state().keys() >= placed.keys()


def test_placers_count_on_the_problems_of_the_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    """A problem for which the policy's placement cannot be repaired counts for no placer."""
    (stage,) = config().stage
    policy, examples = small_policy(), problems()
    held_out = [policy.encode(problem) for problem in examples]
    beside = {"x": np.array([1.0, 2.0, 6.0]), "y": np.array([np.nan, 2.0, 3.0])}
    assert validation(policy, held_out, stage, [], beside)["x"] == 3.0
    assert "y" not in validation(policy, held_out, stage, [], beside)

    def but_the_first(problem: Problem, rows: Any, placed: Any) -> Any:
        return repair_rows(problem, rows[:0] if problem is examples[0] else rows, placed)

    monkeypatch.setattr("streamplace.learning.training.loop.repair_rows", but_the_first)
    found = validation(policy, held_out, stage, [], beside)
    assert (found["x"], found["y"]) == (4.0, 2.5)
