"""The placer `rnn`: its evaluations, repeatability and errors, and what it learns."""

from pathlib import Path

import numpy as np
import pytest
import torch

import streamplace as sp
from streamplace.errors import InfeasibleError, UnsuitableError
from streamplace.families import Recipe
from streamplace.learning.policy.weights import parameter_hash
from streamplace.learning.training import fit, read_config, train
from streamplace.learning.training.stages import ReinforceStage
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.papers.rnn.placer import RnnPlacer
from streamplace.placers.registry import make_placer
from streamplace.placers.trivial import Random
from streamplace.scoring.registry import evaluator
from streamplace.testing.evaluations import counted_evaluations
from tests.support.graphs import chain_graph, preset_graph
from tests.support.placers import seeded_rng
from tests.support.rnn import giph_problem, rnn
from tests.support.torch_threads import one_torch_thread

SHORT = RnnPlacer(steps=3, samples=2)


def loss_of(placement: sp.Placement) -> float:
    return float(evaluator(placement.problem).loss(placement.devices)[0])


def stream_problem(operators: int = 9, model: str = "bottleneck") -> sp.Problem:
    graph = preset_graph("layered", operators, 0)
    return sp.Problem(graph, sp.Cluster.parse("1x4000,2x1500"), source_rate=1e5, model=model)  # type: ignore[arg-type]


def test_no_evaluation_beyond_the_samples_is_made() -> None:
    with counted_evaluations() as count:
        SHORT(stream_problem(), seeded_rng())
    assert count.placements == 6


def test_the_best_sample_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    scored: list[float] = []
    plain = MakespanEvaluator.loss

    def recorded(self: MakespanEvaluator, devices: np.ndarray) -> np.ndarray:
        losses = plain(self, devices)
        scored.extend(losses.tolist())
        return losses

    monkeypatch.setattr(MakespanEvaluator, "loss", recorded)
    found = SHORT(giph_problem(), seeded_rng())
    assert len(scored) == 6
    assert loss_of(found) == min(scored)


@pytest.mark.parametrize("model", ["bottleneck", "path-average"])
def test_seeds_repeat_whatever_was_drawn_before(model: str) -> None:
    problem = stream_problem(12, model)
    first = SHORT(problem, np.random.default_rng(1)).devices.tolist()
    torch.manual_seed(5)
    before = torch.random.get_rng_state(), torch.get_num_threads()
    again = SHORT(problem, np.random.default_rng(1)).devices.tolist()
    other = SHORT(problem, np.random.default_rng(2)).devices.tolist()
    assert first == again != other
    assert torch.equal(torch.random.get_rng_state(), before[0])
    assert torch.get_num_threads() == before[1]


def test_hardware_types_are_respected() -> None:
    problem = giph_problem(2)
    placed = SHORT(problem, seeded_rng())
    assert problem.feasibility.violation(placed.devices) is None


def test_the_options_of_the_paper_are_the_defaults() -> None:
    stage = RnnPlacer().stage
    assert isinstance(stage, ReinforceStage)
    assert stage.optimiser is not None
    assert (stage.epochs, stage.samples, stage.optimiser.rate) == (100, 4, 0.01)
    assert (stage.reward, stage.baseline, stage.window) == ("sqrt-loss", "running", 100)
    config = read_config("rnn").stage[0]
    assert config == stage.model_copy(update={"window": 1000})


def test_large_graphs_are_refused() -> None:
    problem = sp.Problem(chain_graph(*[1e3] * 600), "2x1000", source_rate=1.0)
    with pytest.raises(UnsuitableError) as caught:
        SHORT(problem, seeded_rng())
    start = "placer 'rnn' cannot place so large a problem: sizes.operators: must be at most 512"
    assert str(caught.value).startswith(start)


def test_a_problem_that_cannot_be_repaired_is_an_error() -> None:
    """Three operators need two thirds of a device each, of which there are two."""
    graph = sp.StreamGraph([sp.Operator(name, 1e6, 0.0, memory_bytes=2.0) for name in "abc"])
    cluster = sp.Cluster([sp.Device(name, 1.0, memory_bytes=3.0) for name in "xy"])
    problem = sp.Problem(graph, cluster, source_rate=1.0)
    with pytest.raises(InfeasibleError, match="no device is left for operator"):
        SHORT(problem, seeded_rng())


def test_the_released_code_does_not_train_the_attention() -> None:
    for frozen in (False, True):
        policy = rnn(frozen_attention=frozen)
        before = {name: x.detach().clone() for name, x in policy.named_parameters()}
        fit(policy, [giph_problem()], [SHORT.stage], seeded_rng())
        kept = {name for name, x in policy.named_parameters() if torch.equal(x, before[name])}
        attention = {name for name in before if name.startswith("attention.")}
        assert kept == (attention if frozen else set())


def test_the_shipped_config_trains_for_makespans(tmp_path: Path) -> None:
    config = read_config("rnn")
    stage = config.stage[0].model_copy(update={"epochs": 2})
    config = config.model_copy(update={"stage": [stage]})
    graphs = [Recipe("layered", 3, range(5, 8), seed=2).graph(i) for i in range(3)]
    trained = train(graphs, config, tmp_path / "run")
    assert trained.steps == 6
    problem = sp.Problem(graphs[0], "5x2500", objective=sp.Makespan())
    placer = make_placer(f"policy:samples=3:file={tmp_path / 'run' / 'policy.safetensors'}")
    assert loss_of(placer(problem, seeded_rng())) > 0


def test_training_changes_the_network() -> None:
    policy = rnn()
    before = parameter_hash(policy)
    fit(policy, [giph_problem()], [SHORT.stage], seeded_rng())
    assert parameter_hash(policy) != before


@pytest.mark.long
@pytest.mark.parametrize("throughput", [False, True])
def test_training_beats_random_placements_at_equal_evaluations(throughput: bool) -> None:
    learned, drawn = [], []
    placer = RnnPlacer(steps=60)
    with one_torch_thread():
        for number in range(4):
            problem = giph_problem(number, devices=20)
            if throughput:
                problem = stream_problem(20 + number)
            learned.append(np.log(loss_of(placer(problem, np.random.default_rng(number)))))
            random = Random(evaluations=240)(problem, np.random.default_rng(number))
            drawn.append(np.log(loss_of(random)))
    assert np.mean(learned) < np.mean(drawn)
