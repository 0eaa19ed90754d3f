"""Starts of policies that refine placements: checks before the run, failures, and validation."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import CheckpointError, ObjectiveError, PlacementError, StreamplaceError
from streamplace.files.training_logs import CHECKPOINT
from streamplace.learning.training import TrainConfig, fit, read_config, train
from streamplace.learning.training import loop as loop_module
from streamplace.learning.training.loop import Loop, validation
from streamplace.learning.training.problems import start_of
from streamplace.placers.base import Placer
from streamplace.placers.registry import NamedPlacer
from streamplace.placers.trivial import Random
from tests.support.refiners import pass_problem, placeto
from tests.support.stages import imitation, loop_of, stages_of
from tests.support.training_runs import check_same, log_of

STEPS = {"algorithm": "reinforce-steps", "epochs": 2, "evaluate_every": 0}
FULL = "no single device may run every operator; choose another placer, for example start = "


def graph(name: str, memory_bytes: float = 0.0) -> sp.StreamGraph:
    """Return three operators in a chain, each with this memory."""
    rows = [sp.Operator(v, 1e6, 1e4, memory_bytes=memory_bytes) for v in "abc"]
    return sp.StreamGraph(rows, [("a", "b"), ("b", "c")], source_rate=1.0, name=name)


SMALL_DEVICES = sp.Cluster([sp.Device(name, 2500, memory_bytes=2e9) for name in "xyz"])
"""Each device has room for two operators of 1 GB."""


def problem(name: str = "large", **keys: Any) -> sp.Problem:
    return sp.Problem(graph(name, 1e9), SMALL_DEVICES, objective=sp.Makespan(), **keys)


def config_of(*stages: dict[str, Any], held_out: int = 0, **parts: Any) -> TrainConfig:
    """Return the config `placeto` with these stages."""
    value = read_config("placeto").model_dump(mode="json")
    value["run"]["held_out"] = held_out
    value["problems"] = [{"objective": "makespan"}]
    return TrainConfig.model_validate(value | {"stage": list(stages)} | parts)


def run(config: TrainConfig, folder: Path, *graphs: sp.StreamGraph, **keys: Any) -> Any:
    """Train on graphs, by default on two that fit on one device."""
    some = graphs or (graph("one"), graph("two"))
    return train(some, config, folder, clusters=[SMALL_DEVICES] * len(some), **keys)


def test_the_placers_of_a_config_are_teachers_and_starts() -> None:
    config = config_of(imitation(teacher="heft"), STEPS, STEPS | {"start": "random"})
    assert config.placers == {
        "stage[0].teacher": "heft",
        "stage[1].start": "single",
        "stage[2].start": "random",
    }


@pytest.mark.parametrize("name", ["large", ""])
def test_a_start_that_fails_names_key_graph_and_remedy(name: str, tmp_path: Path) -> None:
    """Nothing has been written then."""
    where = rf"^stage\[0\].start: {name or 'problem 1'}: single: {FULL}\"round-robin\"$"
    with pytest.raises(PlacementError, match=where):
        loop_of([STEPS], placeto(), [pass_problem(), problem(name)]).begin()
    with pytest.raises(PlacementError, match=r"^stage\[0\].start: "):
        run(config_of(STEPS), tmp_path / "run", graph("one"), graph(name, 1e9))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("restart", ["best", "start", "anew"])
def test_the_remedy_works(restart: str, tmp_path: Path) -> None:
    config = config_of(STEPS | {"start": "round-robin", "restart": restart}, held_out=1)
    assert run(config, tmp_path, graph("one", 1e9), graph("two", 1e9)).steps == 2
    assert all(np.isfinite(line["reward"]) for line in log_of(tmp_path))


def test_the_start_of_a_held_out_graph_fails_before_the_first_step() -> None:
    alone = loop_of([STEPS], placeto(), [pass_problem()])
    loop = Loop(alone.learner, alone.stages, [placeto().encode(problem(""))])
    where = r"^stage\[0\].start: problem 0 of those held out: single: no single device"
    with pytest.raises(PlacementError, match=where):
        loop.begin()


def test_a_start_by_the_remedy_that_fails_has_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(self: object, problem: sp.Problem, rng: object, start: object = None) -> None:
        raise PlacementError("gave up")

    monkeypatch.setattr("streamplace.placers.trivial.RoundRobin.__call__", failing)
    with pytest.raises(PlacementError, match="gave up; choose another placer, or leave the graph"):
        start_of(problem(), "round-robin", np.random.default_rng(0), "stage[0].start", 0)


def test_a_start_that_an_earlier_stage_provides_is_not_placed() -> None:
    """Episodes start from the teacher's placements."""
    stages = stages_of(imitation(epochs=0, teacher="heft"), STEPS)
    assert fit(placeto(), [problem()], stages, np.random.default_rng(0)).best[0] is not None
    stages = stages_of(imitation(epochs=0, teacher="heft"), STEPS | {"restart": "start"})
    with pytest.raises(PlacementError, match=r"^stage\[1\].start: large: single: "):
        fit(placeto(), [problem()], stages, np.random.default_rng(0))


def test_the_remedy_for_a_wrong_objective_is_in_the_config() -> None:
    """What the placer recommends are options of commands that place."""
    where = r"^stage\[0\].start: placer 'heft' supports only makespan, not throughput; choose "
    with pytest.raises(ObjectiveError, match=where + r"another placer, or .* of \[\[problems\]\]$"):
        loop_of(
            [STEPS | {"start": "heft"}], placeto(), [sp.Problem(graph("one"), "3x2500")]
        ).begin()


@pytest.mark.parametrize(
    ("stage", "objective", "message"),
    [
        ({"start": "heft"}, "throughput", "start: placer 'heft' supports only makespan,"),
        ({"start": "greedy"}, "makespan", "start: placer 'greedy' supports only throughput, but "),
        ({"start": "policy:samples=2"}, "makespan", "start: placer 'policy' supports only"),
        ({"start": "heft"}, "total-cost", "start: placer 'heft' supports only makespan,"),
    ],
)
def test_configs_that_need_the_other_objective_are_refused(
    stage: dict[str, Any], objective: str, message: str
) -> None:
    with pytest.raises(ValueError, match=rf"stage\[1\].{message}"):
        config_of(STEPS, STEPS | stage, problems=[{"objective": objective}])


@pytest.mark.parametrize(
    ("kind", "objective", "message"),
    [
        ("rebuild", "throughput", "only makespan, not throughput; use another objective, or a"),
        ("rebuild", "total-cost", "only makespan, not total cost; .* kind placeto, giph, "),
    ],
)
def test_an_objective_that_the_policy_does_not_support_is_refused(
    kind: str, objective: str, message: str, tmp_path: Path
) -> None:
    config = config_of(STEPS, policy={"kind": kind}, problems=[{"objective": objective}])
    with pytest.raises(ObjectiveError, match=f"^policy '{kind}' supports {message}"):
        run(config, tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("key", ["start", "teacher"])
def test_missing_weights_are_found_before_anything_is_written(key: str, tmp_path: Path) -> None:
    placer = f"policy:file={tmp_path}/absent.safetensors"
    stage = STEPS | {"start": placer} if key == "start" else imitation(teacher=placer)
    with pytest.raises(CheckpointError, match=rf"^stage\[1\].{key}: .*absent.safetensors: no such"):
        run(config_of(STEPS, stage), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def failing_at(call: int) -> Callable[..., sp.Placement]:
    """Return a random placer that fails once."""
    calls = 0

    def place(problem: sp.Problem, rng: np.random.Generator, start: object = None) -> sp.Placement:
        nonlocal calls
        calls += 1
        if calls == call:
            raise StreamplaceError("the service is down")
        return Random()(problem, rng)

    return place


def named(text: str, placer: Placer) -> NamedPlacer:
    """Return a placer under the name with which it is asked for."""
    return NamedPlacer(text, placer, {}, lambda *_: placer, is_ours=False)


@pytest.mark.parametrize(("call", "steps"), [(3, 4), (4, 4), (6, 5)])
def test_a_failed_step_loses_no_others(
    call: int, steps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of two stages of four steps begins with two starts; the second has one per step."""
    config = config_of(STEPS, STEPS | {"start": "random", "restart": "anew"})

    def use(placer: Placer) -> None:
        for module in ("placers.running", "learning.training.run"):
            monkeypatch.setattr(f"streamplace.{module}.ready", lambda text: named(text, placer))

    use(failing_at(0))
    run(config, tmp_path / "whole")
    use(failing_at(call))
    saved = f"the run is saved after step {steps}, and --resume needs the same config"
    message = rf"^stage\[1\].start: .*the service is down; {saved}$"
    with pytest.raises(StreamplaceError, match=message):
        run(config, tmp_path / "run")
    use(failing_at(0))
    assert not run(config, tmp_path / "run", resume=True).interrupted
    check_same(tmp_path / "run", tmp_path / "whole")


def test_a_failed_validation_loses_no_line_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on from the last checkpoint, and validates that epoch again."""
    config = config_of(STEPS, held_out=1)
    some = [graph(name) for name in ("one", "two", "three")]
    run(config, tmp_path / "whole", *some)
    calls = iter(range(9))

    def failing(*arguments: Any) -> dict[str, float]:
        if next(calls) == 1:
            raise StreamplaceError("the service is down")
        return validation(*arguments)

    monkeypatch.setattr(loop_module, "validation", failing)
    with pytest.raises(StreamplaceError, match=r"the service is down$"):
        run(config, tmp_path / "run", *some)
    resumes = (tmp_path / "run" / CHECKPOINT).exists()
    run(config, tmp_path / "run", *some, resume=resumes)
    keys = ("step", "validation")
    whole, parts = (
        [[record.get(key) for key in keys] for record in log_of(tmp_path / name)]
        for name in ("whole", "run")
    )
    assert parts == whole


def test_a_failure_in_the_first_step_saves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same command starts anew."""
    placer = failing_at(3)
    ready = partial(named, placer=placer)
    monkeypatch.setattr("streamplace.placers.running.ready", ready)
    config = config_of(STEPS | {"start": "random", "restart": "anew"})
    with pytest.raises(StreamplaceError, match=r"the service is down$"):
        run(config, tmp_path / "run")
    assert not (tmp_path / "run" / CHECKPOINT).exists()
    assert not run(config, tmp_path / "run").interrupted


def test_validation_of_a_stage_without_a_start() -> None:
    """An imitation stage names no placer of starts, and its graph fits on no single device."""
    stages = stages_of(imitation(epochs=2, teacher="heft"), STEPS | {"start": "round-robin"})
    rng, held_out = np.random.default_rng(0), [problem("held out"), pass_problem(seed=3)]
    fitted = fit(placeto(), [pass_problem()], stages, rng, held_out=held_out)
    assert ["validation" in record for record in fitted.records] == [True] * 4


def test_the_starts_of_held_out_graphs_are_placed_once_per_stage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []
    original = start_of

    def counted(*arguments: Any) -> sp.Placement:
        made.append(arguments[3])
        return original(*arguments)

    monkeypatch.setattr("streamplace.learning.training.loop.start_of", counted)
    stages = stages_of(STEPS | {"epochs": 3}, STEPS)
    held_out = [pass_problem(seed=3), pass_problem(seed=4)]
    fit(placeto(), [pass_problem()], stages, np.random.default_rng(0), held_out=held_out)
    assert made == ["stage[0].start"] * 2 + ["stage[1].start"] * 2
