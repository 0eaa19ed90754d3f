"""Stages: their epochs, learning rates and rewards, and what one passes to the next."""

import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from benchmarks.reference.checkpoint_parts import memory_of
from streamplace import Placement, Problem, simulate
from streamplace.learning.policy.base import Constructive
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.encoded import Batch
from streamplace.learning.policy.weights import parameter_hash
from streamplace.learning.training.learner import Optimiser
from streamplace.learning.training.loop import Loop, validation
from streamplace.learning.training.rewards import Rewards
from streamplace.learning.training.stages import MemorySection, ReinforceStage
from streamplace.placers.registry import make_placer
from streamplace.problem.objective import Model
from streamplace.util.arrays import Ints
from tests.support.cli import CPU_ENVIRONMENT
from tests.support.paths import ROOT
from tests.support.stages import (
    Value,
    dagger,
    imitation,
    loop_of,
    reinforce,
    small_problems,
    stages_of,
)

STEPS_PER_EPOCH = 3  # 6 problems, 2 per step
OWN: Value = {"rate": 1e-2, "final_rate": 1e-3}


def optimiser_of(loop: Loop) -> Optimiser:
    """Return the optimiser of the current stage."""
    assert loop.algorithm is not None
    return loop.algorithm.optimiser


def rates_of(loop: Loop) -> list[float]:
    """Return the learning rate of every step."""
    return [optimiser_of(loop).rate for _ in loop.steps()]


def progress(epochs: int) -> Iterator[float]:
    """Yield the share of the epochs that is done before each step."""
    steps = epochs * STEPS_PER_EPOCH
    return (step / steps for step in range(steps))


def test_a_cosine_schedule_by_hand() -> None:
    half = [0.5 * (1 + math.cos(math.pi * part)) for part in progress(2)]
    expected = [1e-3 + (1e-2 - 1e-3) * left for left in half]
    assert rates_of(loop_of([dagger(epochs=2, optimiser=OWN)])) == pytest.approx(expected)


def test_a_linear_schedule_by_hand() -> None:
    linear = {**OWN, "schedule": "linear"}
    expected = [1e-2 - (1e-2 - 1e-3) * part for part in progress(2)]
    assert rates_of(loop_of([dagger(epochs=2, optimiser=linear)])) == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["cosine", "linear"])
def test_one_schedule_spans_two_stages(kind: str) -> None:
    """Two stages without a memory equal one long stage to the last bit."""
    optimiser = {**OWN, "schedule": kind, "warm_up": 4}
    values = {"samples": 3, "memory": {"size": 0}}
    single = loop_of([reinforce(epochs=4, optimiser=optimiser, **values)])
    parts = loop_of(
        [reinforce(epochs=1, optimiser=optimiser, **values), reinforce(epochs=3, **values)]
    )
    assert rates_of(parts) == rates_of(single)
    assert parameter_hash(parts.learner.policy) == parameter_hash(single.learner.policy)


def test_without_a_final_rate_the_rate_is_constant() -> None:
    assert set(rates_of(loop_of([dagger(epochs=2, optimiser={"rate": 1e-4})]))) == {1e-4}


def test_without_any_optimiser_the_default_rate_is_used() -> None:
    assert set(rates_of(loop_of([dagger(), dagger()]))) == {1e-3}


def steps_of_adam(loop: Loop) -> set[float]:
    """Return the numbers of steps that Adam has counted for the parameters."""
    state = optimiser_of(loop).state()
    return {float(x) for name, x in state.items() if name.startswith("optimiser.step.")}


@pytest.mark.parametrize("own", [True, False])
def test_a_stage_with_its_own_optimiser_restarts_moments_and_schedule(own: bool) -> None:
    """Without one, the moments and the schedule of the previous stage continue."""
    warm = {"rate": 4e-3, "warm_up": 2}
    second = dagger(epochs=1, **({"optimiser": {"rate": 8e-3, "warm_up": 2}} if own else {}))
    loop = loop_of([dagger(epochs=2, optimiser=warm), second])
    rates, counts = [], []
    for _ in loop.steps():
        rates.append(optimiser_of(loop).rate)
        counts.append(steps_of_adam(loop))
    first = [2e-3] + [4e-3] * 5
    assert rates == pytest.approx(first + ([4e-3, 8e-3, 8e-3] if own else [4e-3] * 3))
    assert counts[5] == {6.0}
    assert counts[6] == ({1.0} if own else {7.0})


@pytest.mark.parametrize("epochs", [0, 1])
def test_imitation_passes_its_placements_to_the_next_stage(epochs: int) -> None:
    """The next stage stores them whatever their reward."""
    no_other = {"size": 3, "threshold": 1e9}
    loop = loop_of([imitation(epochs=epochs), reinforce(memory=no_other)])
    for _ in loop.steps():
        pass
    for number, problem in enumerate(small_problems()):
        (kept,) = memory_of(loop).of(number)
        greedy = make_placer("greedy")(problem, np.random.default_rng(0))
        assert kept.tolist() == greedy.devices.tolist()
        score = simulate(greedy).relative_throughput
        assert memory_of(loop).best[number] >= score - 1e-12


def test_the_memory_is_passed_to_the_next_stage() -> None:
    loop = loop_of([reinforce(epochs=2), reinforce(memory={"size": 2, "threshold": 1e9})])
    records = loop.steps()
    for _ in range(2 * STEPS_PER_EPOCH):
        next(records)
    before = [(p, reward, row.tolist()) for p, reward, row in memory_of(loop).entries()]
    next(records)
    assert before
    assert [(p, reward, row.tolist()) for p, reward, row in memory_of(loop).entries()] == before


def test_a_last_stage_without_epochs_is_skipped() -> None:
    """The stage's teacher computes no placements, since no later stage could use them."""
    loop = loop_of([dagger(), imitation(epochs=0, teacher="random")])
    assert len(list(loop.steps())) == STEPS_PER_EPOCH
    assert loop.algorithm is not None
    assert loop.algorithm.stage.algorithm == "dagger"


def under(problem: Problem, model: Model) -> Problem:
    """Return a problem under another model."""
    return problem.with_objective(replace(problem.throughput_objective, model=model))


@pytest.mark.parametrize("model", ["bottleneck", "path-average"])
def test_rewards_follow_from_the_model_of_the_stage(model: Model) -> None:
    """The policy encodes the problems under their own model, `bottleneck`, in either case."""
    everything = {"size": 50, "threshold": -1e9, "samples": 0}
    loop = loop_of([reinforce(samples=8, memory=everything, model=model)])
    records = list(loop.steps())
    assert {one.problem.model for one in loop.learner.encoded} == {"bottleneck"}
    differ = 0
    for number, reward, row in memory_of(loop).entries():
        by_model: dict[Model, float] = {
            other: simulate(Placement(under(problem, other), row)).relative_throughput
            for other in ("bottleneck", "path-average")
            for problem in [small_problems()[number]]
        }
        assert reward == pytest.approx(by_model[model], rel=1e-12)
        differ += by_model["bottleneck"] != pytest.approx(by_model["path-average"])
    assert differ > 5, "models that agree would make this test vacuous"
    assert all(0 < record["reward"] <= 1 for record in records)


def test_without_a_model_rewards_use_the_model_of_the_problem() -> None:
    own = [under(problem, "path-average") for problem in small_problems()]
    found = []
    for problems, model in ((own, None), (small_problems(), "path-average")):
        (stage,) = stages_of(reinforce(model=model))
        rewards = Rewards(problems, stage.reward, stage.model)
        found.append([rewards(i, single(problem))[0] for i, problem in enumerate(problems)])
    assert found[0] == found[1]


def single(problem: Problem) -> Ints:
    """Return the placement of everything on the first device, as one row."""
    return np.zeros((1, len(problem.graph.names)), dtype=np.int32)


def test_validation_follows_the_model_of_the_stage() -> None:
    learner = loop_of([dagger()]).learner
    found = {}
    models: tuple[Model, ...] = ("bottleneck", "path-average")
    for model in models:
        scores = []
        for one in learner.encoded:
            row = Constructive.of(learner.policy).sample(learner.policy.batch([one]), 1, Sampler())[
                0, 0
            ]
            placement = Placement(under(one.problem, model), row)
            scores.append(simulate(placement).relative_throughput)
        (stage,) = stages_of(dagger(model=model))
        found[model] = validation(learner.policy, learner.encoded, stage, [])["validation"]
        assert found[model] == pytest.approx(np.mean(scores))
    assert found["bottleneck"] != pytest.approx(found["path-average"])


@pytest.mark.parametrize("final", [0.2, None])
@pytest.mark.parametrize("stage", [dagger, reinforce])
def test_exploration_falls_linearly_over_its_stage(
    stage: Callable[..., Value], final: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a final value it is constant."""
    loop = loop_of([imitation(), stage(epochs=2, exploration=0.8, final_exploration=final)])
    policy, probabilities = Constructive.of(loop.learner.policy), []
    original = policy.rollout

    def rollout(batch: Batch, samples: int, sampler: Sampler, *args: Any, **kwargs: Any) -> Any:
        probabilities.append(sampler.exploration)
        return original(batch, samples, sampler, *args, **kwargs)

    monkeypatch.setattr(policy, "rollout", rollout)
    for _ in loop.steps():
        pass
    last = 0.8 if final is None else final
    falling = [0.8 + (last - 0.8) * part for part in progress(2)]
    assert probabilities == pytest.approx([0.0] * STEPS_PER_EPOCH + falling)


@pytest.mark.parametrize(
    ("reward", "threshold", "expected"),
    [("relative", None, 0.8), ("log", None, -math.inf), ("log", 0.5, 0.5), ("relative", 0.0, 0.0)],
)
def test_the_default_threshold_depends_on_the_reward(
    reward: Literal["relative", "log"], threshold: float | None, expected: float
) -> None:
    """Log rewards are at most 0, so a threshold of 0.8 would leave the memory empty."""
    memory = MemorySection(threshold=threshold)
    stage = ReinforceStage(algorithm="reinforce", epochs=1, reward=reward, memory=memory)
    assert stage.threshold == expected


OWN_STAGE = """
from typing import ClassVar, Literal

from streamplace.learning.training.stages import ReinforceStage


class OwnStage(ReinforceStage):
    path: ClassVar[str] = "own_algorithm:Own"
    algorithm: Literal["own"]
    halves: int = 1
"""
OWN_ALGORITHM = """
from streamplace.learning.training.algorithms.reinforce import Reinforce


class Own(Reinforce):
    def loss(self, step, record):
        return super().loss(step, record) * 0.5**self.stage.halves
"""
TRAINED = """
import numpy as np
from streamplace.learning.training import fit
from streamplace.learning.training.config import TrainConfig
from tests.support.stages import small_policy, small_problems
keys = {"algorithm": "own", "epochs": 1, "halves": 2}
config = TrainConfig.model_validate({"policy": {"kind": "device-scorer"}, "stage": [keys]})
fitted = fit(small_policy(), small_problems(), config.stage, np.random.default_rng(0))
print(type(config.stage[0]).__name__, len(fitted.records))
"""


KNOWN = """
from streamplace.learning.training.config import TrainConfig
from streamplace.learning.training.stages import forms
print(*forms())
TrainConfig.model_validate(
    {"policy": {"kind": "device-scorer"}, "stage": [{"algorithm": "reinforce", "epochs": 1}]}
)
"""


def installed_run(
    folder: Path, point: str, program: str = TRAINED
) -> subprocess.CompletedProcess[str]:
    """Run a program with a package that registers a form of a stage."""
    about = folder / "own-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[streamplace.stages]\nown = {point}\n")
    (folder / "own_stage.py").write_text(OWN_STAGE)
    (folder / "own_algorithm.py").write_text(OWN_ALGORITHM)
    environment = {**CPU_ENVIRONMENT, "PYTHONPATH": f"{folder}:{ROOT}"}
    run = [sys.executable, "-c", program]
    return subprocess.run(run, env=environment, capture_output=True, text=True, check=False)


def test_installed_packages_add_algorithms(tmp_path: Path) -> None:
    done = installed_run(tmp_path, "own_stage:OwnStage")
    assert done.stdout == "OwnStage 6\n", done.stderr


@pytest.mark.parametrize(
    ("point", "fault"),
    [
        ("own_stage:Literal", "own_stage:Literal must be a subclass of streamplace.learning."),
        ("own_stage:ReinforceStage", "own_stage:ReinforceStage must have the key algorithm"),
        ("absent:OwnStage", "loading absent:OwnStage failed: ModuleNotFoundError: No module"),
    ],
)
def test_training_goes_on_without_a_broken_form(point: str, fault: str, tmp_path: Path) -> None:
    done = installed_run(tmp_path, point, KNOWN)
    assert done.returncode == 0, done.stderr
    assert "own" not in done.stdout.split()
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"stage 'own': {fault}")
    assert line.endswith("; training goes on without this algorithm")
