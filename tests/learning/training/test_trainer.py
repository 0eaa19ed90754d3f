"""Interrupted runs of stages, and of policies that refine placements, equal others bit by bit."""

import signal
from pathlib import Path
from typing import Any

import pytest

from benchmarks.reference.trainings import config, config_of, graphs, of_kind, resumed
from streamplace import Problem
from streamplace.errors import UsageError
from streamplace.learning.policy.registry import policy_kind
from streamplace.learning.training import TrainConfig, read_config, train
from streamplace.learning.training.algorithms import imitation as algorithm
from streamplace.learning.training.algorithms.base import Record
from streamplace.learning.training.config import config_names
from streamplace.util.arrays import Ints
from tests.support.long import long_after
from tests.support.stages import dagger, imitation, reinforce
from tests.support.training_runs import STEPS_PER_EPOCH, check_same, ctrl_c_at

FinishedRun = tuple[TrainConfig, Path]


STAGES = {
    "imitation, reinforce": (imitation(), reinforce()),
    "dagger, reinforce": (
        dagger(exploration=0.5, final_exploration=0.1, optimiser={"rate": 1e-2, "warm_up": 2}),
        reinforce(optimiser={"rate": 1e-3, "warm_up": 4, "final_rate": 1e-4}),
    ),
    "imitation, dagger, reinforce": (
        imitation(),
        dagger(entropy=0.01, ties="each", optimiser={"rate": 1e-2, "schedule": "linear"}),
        reinforce(random_samples=1.5, random_decay=2.0, reward="log"),
    ),
    "reinforce, imitation without epochs, reinforce": (
        reinforce(exploration=0.2, epochs=2),
        imitation(epochs=0, optimiser={"rate": 1e-2, "warm_up": 4}),
        reinforce(model="path-average"),
    ),
    "reinforce with a running baseline": (
        reinforce(baseline="running", window=2, reward="sqrt-loss", epochs=2),
    ),
}


@pytest.fixture(scope="module", params=STAGES)
def staged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """Return a config of several stages and the folder of its uninterrupted run."""
    cfg = config_of(*STAGES[request.param])
    folder = tmp_path_factory.mktemp("staged") / "run"
    assert train(graphs(), cfg, folder).steps == cfg.epochs * STEPS_PER_EPOCH
    return cfg, folder


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"graphs": []}, "train: needs at least one graph"),
        ({"graphs": "graphs.jsonl"}, "graphs must be StreamGraph objects; read_dataset reads"),
        ({"graphs": [{"operators": []}]}, "graphs must be StreamGraph objects"),
        ({"config": {"policy": {}}}, "config must be TrainConfig, not dict"),
    ],
)
def test_arguments_of_other_types(changed: Any, message: str, tmp_path: Path) -> None:
    arguments = {"graphs": graphs(), "config": "paper", "folder": tmp_path / "run", **changed}
    with pytest.raises(UsageError, match=message):
        train(**arguments)
    assert not (tmp_path / "run").exists()


def test_interruptions_after_every_step(staged: FinishedRun, tmp_path: Path) -> None:
    cfg, expected = staged
    for step in range(1, cfg.epochs * STEPS_PER_EPOCH):
        train(graphs(), cfg, tmp_path / "run", resume=step > 1, on_step=ctrl_c_at(step))
    train(graphs(), cfg, tmp_path / "run", resume=True)
    check_same(tmp_path / "run", expected)


def test_a_crash_in_the_first_step_of_a_stage(staged: FinishedRun, tmp_path: Path) -> None:
    """The checkpoint is from the end of the previous stage."""
    cfg, expected = staged
    options = {"checkpoint_every": STEPS_PER_EPOCH}
    rare = cfg.model_copy(update={"run": cfg.run.model_copy(update=options)})

    def on_step(record: Record) -> None:
        if record["step"] == STEPS_PER_EPOCH + 1:
            raise RuntimeError("simulated power failure")

    with pytest.raises(RuntimeError, match="power"):
        train(graphs(), rare, tmp_path / "run", on_step=on_step)
    with resumed(cfg, tmp_path / "run") as run:
        assert run.loop.position.step == STEPS_PER_EPOCH
    train(graphs(), cfg, tmp_path / "run", resume=True)
    check_same(tmp_path / "run", expected)


@pytest.mark.parametrize("own", [{}, {"optimiser": {"rate": 1e-2, "warm_up": 2}}], ids=str)
def test_a_signal_while_a_later_teacher_places(
    own: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stage has not begun, so the teacher places all problems again after resuming."""
    cfg = config_of(dagger(), imitation(**own), reinforce())
    train(graphs(), cfg, tmp_path / "uninterrupted", jobs=1)
    placed = []

    def interrupted(numbered: tuple[int, Problem], *, placer: str, seed: int) -> Ints:
        placed.append(numbered[0])
        if len(placed) == 2:
            signal.raise_signal(signal.SIGINT)
        return original(numbered, placer=placer, seed=seed)

    original = algorithm.teacher_placement
    with monkeypatch.context() as patched:
        patched.setattr(algorithm, "teacher_placement", interrupted)
        done = train(graphs(), cfg, tmp_path / "run", jobs=1)
    assert (done.steps, done.interrupted, placed) == (STEPS_PER_EPOCH, True, [0, 1])
    train(graphs(), cfg, tmp_path / "run", resume=True, jobs=1)
    check_same(tmp_path / "run", tmp_path / "uninterrupted")


BASELINES = {
    "episodes": "reinforce-steps",
    "samples": "reinforce-steps",
    "steps": "giph",
    "earlier-steps": "giph",
    "none": "reinforce-steps",
}
"""Baseline -> an algorithm that has it."""
CONFIGS = [name for name in config_names() if policy_kind(read_config(name).policy.kind).refines]


@pytest.mark.parametrize("evaluate_every", [0, 2])
@pytest.mark.parametrize("baseline", long_after(2, BASELINES))
def test_every_baseline(baseline: str, evaluate_every: int, tmp_path: Path) -> None:
    check_interruptions(tmp_path, of_kind("placeto"), baseline, evaluate_every)


def check_interruptions(
    folder: Path, sections: dict[str, dict[str, Any]], baseline: str, evaluate_every: int
) -> None:
    """Interrupt a run after every step, and compare it with an uninterrupted one."""
    (stage,) = config(sections).model_dump(mode="json")["stage"]
    changed = {"algorithm": BASELINES[baseline], "baseline": baseline}
    cfg = config_of(stage | changed | {"evaluate_every": evaluate_every}, **sections)
    steps = train(graphs(), cfg, folder / "uninterrupted").steps
    for step in range(1, steps):
        run = train(graphs(), cfg, folder / "run", resume=step > 1, on_step=ctrl_c_at(step))
        assert (run.steps, run.interrupted) == (step, True)
    train(graphs(), cfg, folder / "run", resume=True)
    check_same(folder / "run", folder / "uninterrupted")


@pytest.mark.parametrize("name", CONFIGS)
def test_every_shipped_config(name: str, tmp_path: Path) -> None:
    """A run is interrupted after its first step, and resumed."""
    cfg = read_config(name)
    cfg = cfg.model_copy(update={"run": cfg.run.model_copy(update={"held_out": 1})})
    for step in (1, 2):
        run = train(graphs(), cfg, tmp_path, resume=step > 1, on_step=ctrl_c_at(step))
        assert (run.steps, run.interrupted) == (step, True)
