"""Tests for what placers that improve a placement by a policy of one kind share."""

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import CheckpointError, ObjectiveError, UsageError
from streamplace.learning.policy.improving import trained_for
from streamplace.learning.policy.placer import loaded
from streamplace.learning.training import TrainConfig, read_config, train
from streamplace.makespan.total_cost import TotalCost
from streamplace.placers.base import BasePlacer
from streamplace.placers.registry import make_placer
from streamplace.placers.running import improving
from streamplace.scoring.registry import evaluator
from streamplace.sim import work_clock
from tests.support.giph import giph_problem
from tests.support.graphs import preset_graph

PACKAGE = Path(sp.__file__).parent
SHIPPED, GIPH = PACKAGE / "learning" / "policy" / "shipped", PACKAGE / "papers" / "giph" / "weights"


def dream_problem() -> sp.Problem:
    return sp.Problem(preset_graph("dream", 10, 1), sp.Cluster.equal(3), source_rate=1e4)


def test_reading_weights_is_no_cost_of_a_placement(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]

    def slow(*_: object) -> object:
        clock[0] += 5.0
        return None

    # with the fractions of seconds that earlier tests loaded, the exact difference would be rounded
    monkeypatch.setattr(work_clock._loading, "wall_seconds", 0.0)
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])
    monkeypatch.setattr("streamplace.learning.policy.placer._read", slow)
    begun = work_clock.now()
    loaded(str(GIPH / "giph-makespan.safetensors"))
    assert (work_clock.now() - begun, clock) == (0.0, [5.0])


@pytest.mark.parametrize("name", ["giph", "rebuild"])
def test_the_number_of_evaluations_is_checked(name: str) -> None:
    for evaluations in (-1, 10_000_001):
        with pytest.raises(UsageError, match="evaluations must be 0 to 10000000"):
            make_placer(f"{name}:evaluations={evaluations}")


@pytest.mark.parametrize(
    ("name", "file", "problem", "remedy"),
    [
        ("giph", SHIPPED / "best.safetensors", dream_problem(), "; use policy:file=…"),
        ("giph", SHIPPED / "best.safetensors", giph_problem(), ""),  # it has no makespans
        ("rebuild", GIPH / "giph-makespan.safetensors", giph_problem(), "; use policy:file=…"),
    ],
)
def test_weights_of_another_kind_are_refused(
    name: str, file: Path, problem: sp.Problem, remedy: str
) -> None:
    """`policy` is advised only where it can place with this file."""
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError) as raised:
        make_placer(f"{name}:file={file}")(problem, rng)
    assert str(raised.value) == f"{name}: {file} has a policy of another kind{remedy}"
    with nullcontext() if remedy else pytest.raises(ObjectiveError):
        make_placer(f"policy:file={file}")(problem, rng)


def test_weights_for_the_other_objective_are_refused() -> None:
    for problem, right, wrong in (
        (giph_problem(), "makespan", "throughput"),
        (dream_problem(), "throughput", "makespan"),
    ):
        rng = np.random.default_rng(0)
        placer = make_placer(f"giph:file={GIPH / f'giph-{wrong}.safetensors'}")
        with pytest.raises(UsageError, match=f"was trained for {wrong}, not for {right}; "):
            placer(problem, rng)
        make_placer(f"giph:file={GIPH / f'giph-{right}.safetensors'}:evaluations=1")(problem, rng)


def test_weights_trained_for_the_total_cost_are_not_those_of_makespans(tmp_path: Path) -> None:
    """A policy file says what it was trained for by the config on its card."""
    problem = giph_problem()
    settings = read_config("giph-makespan").model_dump(mode="json")
    settings["problems"], settings["run"]["held_out"] = [{"objective": "total-cost"}], 0
    settings["stage"] = [settings["stage"][0] | {"epochs": 1}]
    config = TrainConfig.model_validate(settings)
    train([problem.graph], config, tmp_path, clusters=[problem.cluster])
    file = tmp_path / "policy.safetensors"
    assert trained_for(loaded(str(file)).card) == {"total cost"}
    placer, rng = make_placer(f"giph:file={file}:evaluations=3"), np.random.default_rng(0)
    costs = problem.with_objective(TotalCost())
    assert placer(costs, rng).problem is costs
    with pytest.raises(UsageError, match="was trained for total cost, not for makespan; "):
        placer(problem, rng)


@pytest.mark.parametrize(
    ("card", "expected"),
    [
        ({}, set()),
        ({"config": "giph"}, set()),
        ({"config": {"problems": [1]}}, set()),
        ({"config": {"problems": [{"objective": "makespan:order=b-level"}]}}, {"makespan"}),
        ({"config": {"problems": [{"objective": "total-cost"}]}}, {"total cost"}),
        ({"config": {"problems": [{"objective": "throughput"}, {"objective": "own"}]}}, set()),
    ],
)
def test_objectives_on_a_card(card: dict[str, object], expected: set[str]) -> None:
    assert trained_for(card) == expected


@pytest.mark.parametrize("name", ["giph", "rebuild"])
def test_missing_weights_are_refused(name: str, tmp_path: Path) -> None:
    placer = make_placer(f"{name}:file={tmp_path / 'none'}")
    with pytest.raises(CheckpointError):
        placer(giph_problem(), np.random.default_rng(0))


@pytest.mark.parametrize("name", ["giph", "rebuild"])
def test_a_placer_begins_from_the_placement_of_another_one(name: str) -> None:
    problem = giph_problem()
    placer = make_placer(f"{name}:start=random:evaluations=3")
    assert isinstance(placer, BasePlacer)
    assert placer.begins_from == "random"
    begun = placer.begun(problem, np.random.default_rng(5))
    assert begun is not None
    drawn = make_placer("random")(problem, np.random.default_rng(5))
    assert begun.devices.tolist() == drawn.devices.tolist()
    found = placer(problem, np.random.default_rng(5))
    first, last = evaluator(problem).loss(np.stack([begun.devices, found.devices]))
    assert last <= first
    improver = improving(name)
    assert improver is not None
    assert improver.begins_from == "the best of quick placers"


def test_an_untrained_policy_has_random_parameters_from_a_seed() -> None:
    problem = giph_problem()

    def placed(text: str) -> list[int]:
        devices: list[int] = make_placer(text)(problem, np.random.default_rng(1)).devices.tolist()
        return devices

    first = placed("giph:start=random:untrained=0")
    assert first == placed("giph:start=random:untrained=0")
    assert first != placed("giph:start=random")
    assert first != placed("giph:start=random:untrained=1")


def test_a_policy_that_builds_placements_has_no_start() -> None:
    placer = make_placer("policy:start=random")
    assert isinstance(placer, BasePlacer)
    assert placer.begins_from is None
    stream = sp.Problem(preset_graph("dream", 10, 1), sp.Cluster.equal(3), source_rate=1e4)
    with pytest.raises(UsageError, match="policy: start: DeviceScorer builds placements at once"):
        placer(stream, np.random.default_rng(0))


def test_choices_that_nobody_trained_have_no_untrained_form() -> None:
    with pytest.raises(UsageError, match="rebuild: untrained: without a file, all choices are"):
        make_placer("rebuild:untrained=0")(giph_problem(), np.random.default_rng(0))
