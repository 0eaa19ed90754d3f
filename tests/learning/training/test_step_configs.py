"""Tests of configs for policies that refine placements."""

from pathlib import Path
from typing import Any

import pytest

from streamplace.errors import StreamplaceError
from streamplace.families import Recipe
from streamplace.learning.policy.registry import policy_section
from streamplace.learning.training import TrainConfig, fit, read_config, train
from streamplace.learning.training.problems import make_problems
from streamplace.problem.makespan import Makespan
from tests.support.refiners import pass_problem, placeto
from tests.support.stages import reinforce, small_policy, small_problems, stages_of

GRAPHS = [Recipe("layered", 3, range(5, 8), seed=2).graph(i) for i in range(3)]
STEPS = {"algorithm": "reinforce-steps", "epochs": 2}


def refusal(**parts: Any) -> str:
    value = read_config("placeto").model_dump(mode="json") | parts
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared
        TrainConfig.model_validate(value)
    return str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        *("placeto", "placeto-stream", "giph", "giph-makespan", "giph-stream"),
        *("best-makespan", "hsdag", "hsdag-stream"),
    ],
)
def test_shipped_configs_train(name: str, tmp_path: Path) -> None:
    config = read_config(name)
    stage = config.stage[0].model_copy(update={"epochs": 3, "evaluate_every": 2})
    run = config.run.model_copy(update={"held_out": 1})
    config = config.model_copy(update={"stage": [stage], "run": run})
    records: list[dict[str, float | int]] = []
    trained = train(GRAPHS, config, tmp_path / "run", on_step=records.append)
    problems = 2 * max(1, len(config.problems[0].source_rates))  # of two graphs
    assert trained.steps == 3 * problems
    assert all("evaluations" in record for record in records)
    assert "validation" in records[problems - 1]


def test_problems_of_makespans_follow_the_published_semantics() -> None:
    (problem, *_) = make_problems(GRAPHS, read_config("placeto").problems, 0)
    assert isinstance(problem.objective, Makespan)
    assert problem.cluster.network.kind == "egress"
    assert problem.cluster.network.gap_s == 25e-6
    assert problem.graph.multicast == "all"
    assert len(make_problems(GRAPHS, read_config("placeto").problems, 0)) == len(GRAPHS)


def test_semantics_without_a_makespan_are_refused() -> None:
    message = refusal(problems=[{"semantics": "giph"}])
    assert "semantics: requires objective = 'makespan'" in message


def test_the_algorithm_must_suit_the_policy() -> None:
    refines = (
        "is not for policy 'placeto', which refines placements; did you mean 'reinforce-steps'?"
    )
    assert f"stage[0].algorithm: 'reinforce' {refines}" in refusal(stage=[reinforce()])
    imitation = {"algorithm": "imitation", "teacher": "heft", "epochs": 1}
    message = refusal(policy={"kind": "giph"}, stage=[imitation])
    assert "; choose from reinforce-steps, giph, placeto, hsdag [" in message
    for algorithm in ("reinforce-steps", "giph"):
        stage = STEPS | {"algorithm": algorithm}
        value = read_config("best").model_dump(mode="json") | {"stage": [stage]}
        with pytest.raises(ValueError, match=f"'{algorithm}' is not for policy 'device-scorer', "):
            TrainConfig.model_validate(value)


def test_only_the_loss_is_a_reward_of_steps() -> None:
    assert "reward: must be 'log-loss' (got 'log')" in refusal(stage=[STEPS | {"reward": "log"}])


def test_an_unknown_order_names_the_choices() -> None:
    with pytest.raises(ValueError, match=r"order: must be 'lexico', .* \(got 'dfs-preoder'\)"):
        policy_section({"kind": "placeto", "sizes": {"order": "dfs-preoder"}})


def test_in_memory_the_pairing_is_checked_too() -> None:
    import numpy as np  # noqa: PLC0415 - beside what it tests

    rng = np.random.default_rng(0)
    with pytest.raises(StreamplaceError, match="Placeto refines placements and cannot build them"):
        fit(placeto(), [pass_problem()], stages_of(reinforce()), rng)
    with pytest.raises(StreamplaceError, match="builds placements and cannot refine them"):
        fit(small_policy(), small_problems(), stages_of(STEPS), rng)
