"""Checkpoints and weights: round trips, and refusal of files that do not fit.

Damaged files are those of tests/learning/policy/test_weights.py, malicious ones those of
tests/hardening.
"""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.reference.checkpoint_parts import Parts, memory_of, remembering, shapes_in
from benchmarks.reference.trainings import config, graphs, of_kind, opened, resumed
from streamplace import StreamGraph
from streamplace.errors import CheckpointError, TrainingError
from streamplace.files.training_logs import CHECKPOINT, POLICY
from streamplace.learning.policy.tensor_files import summary
from streamplace.learning.policy.weights import (
    hash_of_tensors,
    pack_tensors,
    parameter_hash,
    read_policy,
)
from streamplace.learning.training import train
from streamplace.learning.training.loop import Position
from tests.support.training_runs import check_finite

KINDS = ("device-scorer", "encoder-decoder")


@pytest.fixture(scope="module", params=KINDS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished run, which tests must not change."""
    folder = tmp_path_factory.mktemp("run") / str(request.param)
    train(graphs(), config(of_kind(str(request.param))), folder)
    return folder


def kind_of(run: Path) -> str:
    """Return the policy kind of a run."""
    return run.name


def parts_of(run: Path) -> Parts:
    """Return parts into which a run's checkpoint can be loaded."""
    return Parts(kind_of(run), shapes_in(run / CHECKPOINT))


def test_a_checkpoint_survives_a_round_trip(run: Path, tmp_path: Path) -> None:
    parts = parts_of(run)
    before = parameter_hash(parts.policy)
    position = parts.load(run / CHECKPOINT)
    assert (position.epoch, position.step_of_epoch, position.step) == (2, 0, 6)
    assert position.seconds > 0
    assert parameter_hash(parts.policy) != before
    identity = json.loads(opened(run / CHECKPOINT)[1]["run"])
    parts.save(tmp_path / "again", position, identity)
    tensors, words = opened(tmp_path / "again")
    expected, expected_words = opened(run / CHECKPOINT)
    assert words == expected_words
    assert tensors.keys() == expected.keys()
    assert [name for name in tensors if not torch.equal(tensors[name], expected[name])] == []


def test_weights_equal_those_of_the_checkpoint(run: Path) -> None:
    parts = parts_of(run)
    parts.load(run / CHECKPOINT)
    policy, card = read_policy(run / POLICY)
    assert parameter_hash(policy) == parameter_hash(parts.policy) == card["parameter_hash"]
    assert card["step"] == 6
    check_finite(run)


def test_a_checkpoint_contains_optimiser_and_memory(run: Path) -> None:
    parts = parts_of(run)
    parts.load(run / CHECKPOINT)
    state = parts.loop.state()
    adam_state: dict[str, dict[str, torch.Tensor]] = {}
    for name, tensor in state.items():
        if name.startswith("optimiser."):
            _, key, parameter = name.split(".", 2)
            adam_state.setdefault(key, {})[parameter] = tensor
    assert set(adam_state) == {"step", "exp_avg", "exp_avg_sq"}
    trained = {name for name, p in parts.policy.named_parameters()}
    assert len(adam_state["step"]) > 5
    assert adam_state["step"].keys() == adam_state["exp_avg"].keys() <= trained
    assert {float(step) for step in adam_state["step"].values()} == {6.0}
    assert any(bool(moment.any()) for moment in adam_state["exp_avg"].values())
    assert sum(len(parts.memory.of(problem)) for problem in range(5)) > 5
    assert np.isfinite(parts.memory.best).all()


@pytest.mark.parametrize("sections", [{"memory": {"size": 0}}, {"memory": {"threshold": 2.0}}])
def test_an_empty_memory_is_restored(sections: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    """A memory stays empty with size 0, and with a threshold that no reward reaches."""
    cfg = config(sections)
    done = train(graphs(), cfg, tmp_path / "run")
    with resumed(cfg, tmp_path / "run") as restored:
        assert parameter_hash(restored.policy) == done.parameter_hash
        assert list(memory_of(restored.loop).entries()) == []


@pytest.mark.parametrize("data", [b"\0", b"{}", b"\xff" * 4096, struct.pack("<Q", 2) + b"{}"])
def test_a_file_that_is_not_safetensors_is_refused(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "none"
    file.write_bytes(data)
    with pytest.raises(CheckpointError, match="not a safetensors file"):
        Parts("device-scorer").load(file)
    with pytest.raises(CheckpointError, match="not a safetensors file"):
        read_policy(file)


@pytest.mark.parametrize("name", ["absent", ".", "a\0b", "n" * 300])
def test_an_unreadable_path_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError):
        Parts("device-scorer").load(tmp_path / name)
    with pytest.raises(CheckpointError):
        read_policy(tmp_path / name)


def test_weights_and_checkpoints_are_not_interchangeable(run: Path) -> None:
    with pytest.raises(CheckpointError, match="is not a checkpoint of version 1"):
        parts_of(run).load(run / POLICY)
    with pytest.raises(CheckpointError, match="not a policy file of version 1"):
        read_policy(run / CHECKPOINT)


Change = Callable[[dict[str, torch.Tensor], dict[str, str]], object]
INCONSISTENT: dict[str, Change] = {
    "version": lambda tensors, words: words.update(version="2"),
    "no run": lambda tensors, words: words.pop("run"),
    "run is not JSON": lambda tensors, words: words.update(run="?"),
    "run is a list": lambda tensors, words: words.update(run="[]"),
    "no position": lambda tensors, words: words.pop("position"),
    "position is a list": lambda tensors, words: words.update(position="[]"),
    "position with other fields": lambda tensors, words: words.update(position='{"era": 1}'),
    "position is text": lambda tensors, words: words.update(position='{"step": "6"}'),
    "no weights": lambda tensors, words: tensors.pop("network.score.weight"),
    "other weights": lambda tensors, words: tensors.update({"network.x": torch.zeros(1)}),
    "larger weights": lambda tensors, words: tensors.update(
        {"network.score.weight": torch.zeros(1, 9)}
    ),
    "optimiser of other parameters": lambda tensors, words: tensors.update(
        {"optimiser.exp_avg.nobody": torch.zeros(1)}
    ),
    "no rewards": lambda tensors, words: tensors.pop("memory.reward"),
    "fewer rewards": lambda tensors, words: tensors.update(
        {"memory.reward": tensors["memory.reward"][:-1].clone()}
    ),
    "fewer devices": lambda tensors, words: tensors.update(
        {"memory.devices": tensors["memory.devices"][:-1].clone()}
    ),
    "a device beyond the last": lambda tensors, words: tensors["memory.devices"].fill_(3),
    "a device below the first": lambda tensors, words: tensors["memory.devices"].fill_(-1),
    "longer placements": lambda tensors, words: tensors["memory.length"].copy_(
        torch.tensor([4, 2])
    ),
    "problem before the first": lambda tensors, words: tensors["memory.problem"].fill_(-1),
    "problem beyond the last": lambda tensors, words: tensors["memory.problem"].fill_(10**6),
}


@pytest.mark.parametrize("odd", INCONSISTENT)
def test_an_inconsistent_checkpoint_with_a_valid_hash_is_refused(odd: str, tmp_path: Path) -> None:
    """A valid hash does not guarantee valid content."""
    parts = remembering("device-scorer")
    position = Position(1, 0, 3, 0.5)
    parts.save(tmp_path / "good", position, {"graphs": "x"})
    tensors, words = opened(tmp_path / "good")
    assert Parts("device-scorer").load(tmp_path / "good", {"graphs": "x"}) == position
    INCONSISTENT[odd](tensors, words)
    (tmp_path / "odd").write_bytes(pack_tensors(tensors, words))
    with pytest.raises(CheckpointError):
        Parts("device-scorer").load(tmp_path / "odd", {"graphs": "x"})


def test_a_damaged_checkpoint_changes_no_state(tmp_path: Path) -> None:
    parts, file = remembering("device-scorer"), tmp_path / "c"
    parts.save(file, Position(), {})
    data, middle = file.read_bytes(), len(file.read_bytes()) // 2
    with torch.no_grad():
        next(parts.policy.parameters()).fill_(0.5)
    before = hash_of_tensors({**parts.policy.state_dict(), **parts.loop.state()}, {})
    flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    for damaged in (flipped, data[:-1], data + b"\0"):
        file.write_bytes(damaged)
        with pytest.raises(CheckpointError):
            parts.load(file)
        assert hash_of_tensors({**parts.policy.state_dict(), **parts.loop.state()}, {}) == before
    file.write_bytes(data)
    parts.load(file)
    assert hash_of_tensors({**parts.policy.state_dict(), **parts.loop.state()}, {}) != before


INCONSISTENT_WEIGHTS: dict[str, Change] = {
    "version": lambda tensors, words: words.update(version="2"),
    "no kind": lambda tensors, words: words.pop("kind"),
    "other kind": lambda tensors, words: words.update(kind="oracle"),
    "no sizes": lambda tensors, words: words.pop("sizes"),
    "sizes are a list": lambda tensors, words: words.update(sizes="[8, 1]"),
    "misspelt sizes": lambda tensors, words: words.update(sizes='{"hiden": 8}'),
    "other sizes": lambda tensors, words: words.update(sizes='{"hidden": 9, "hops": 1}'),
    "negative sizes": lambda tensors, words: words.update(sizes='{"hidden": -9, "hops": 1}'),
    "no card": lambda tensors, words: words.pop("card"),
    "card is a number": lambda tensors, words: words.update(card="7"),
    "card is a list": lambda tensors, words: words.update(card="[]"),
    "card nested deeply": lambda tensors, words: words.update(card="[" * 100_000),
    "no weights": lambda tensors, words: tensors.pop("score.weight"),
}


@pytest.mark.parametrize("odd", INCONSISTENT_WEIGHTS)
def test_inconsistent_weights_with_a_valid_hash_are_refused(odd: str, tmp_path: Path) -> None:
    cfg = config(stage={"epochs": 1})
    train(graphs(), cfg, tmp_path / "run")
    tensors, words = opened(tmp_path / "run" / POLICY)
    INCONSISTENT_WEIGHTS[odd](tensors, words)
    (tmp_path / "odd").write_bytes(pack_tensors(tensors, words))
    with pytest.raises(CheckpointError):
        read_policy(tmp_path / "odd")
    if "card" in odd:
        with pytest.raises(CheckpointError):
            summary(tmp_path / "odd")


@pytest.mark.parametrize("graph", [0, 5])
def test_a_checkpoint_of_other_graphs_is_refused(graph: int, run: Path) -> None:
    """The removed graph is one that is held out, or one that is trained on."""
    other = [g for i, g in enumerate(graphs()) if i != graph]
    before = sorted((f.name, f.stat().st_mtime_ns) for f in run.iterdir())
    with pytest.raises(CheckpointError, match="belongs to another run: other graphs or clusters"):
        train(other, config(of_kind(kind_of(run))), run, resume=True)
    with pytest.raises(CheckpointError, match="belongs to another run: other graphs or clusters"):
        train(graphs()[::-1], config(of_kind(kind_of(run))), run, resume=True)
    assert sorted((f.name, f.stat().st_mtime_ns) for f in run.iterdir()) == before


def test_a_checkpoint_of_other_rates_is_refused(run: Path) -> None:
    """A graph's hash does not cover source rates, but the hash of the problems does."""
    faster = [
        StreamGraph(g.operators, g.streams, source_rate=7 * (g.source_rate or 1e4))
        for g in graphs()
    ]
    assert [g.sha256 for g in faster] == [g.sha256 for g in graphs()]
    with pytest.raises(CheckpointError, match="belongs to another run: other graphs or clusters"):
        train(faster, config(of_kind(kind_of(run))), run, resume=True)


@pytest.mark.parametrize(
    "section",
    [
        {"run": {"seed": 1}},
        {"run": {"held_out": 2}},
        {"stage": {"samples": 4}},
        {"optimiser": {"rate": 2e-3}},
        {"problems": {"devices": ["3x2000"]}},
    ],
    ids=str,
)
def test_a_checkpoint_of_another_config_is_refused(
    section: dict[str, dict[str, Any]], run: Path
) -> None:
    with pytest.raises(CheckpointError, match="belongs to another run: ") as refused:
        train(graphs(), config({**of_kind(kind_of(run)), **section}), run, resume=True)
    ((part, names),) = section.items()
    (name,) = names
    places = {"stage": "stage[0]", "problems": "problems[0]"}
    place = (places | {"optimiser": "stage[0].optimiser"}).get(part, part)
    assert f"belongs to another run: config.{place}.{name}: " in str(refused.value)
    assert str(refused.value).endswith("; choose another folder")


def test_a_checkpoint_of_the_other_policy_is_refused(run: Path) -> None:
    other = next(kind for kind in KINDS if kind != kind_of(run))
    with pytest.raises(
        CheckpointError, match=r"config\.policy\.kind: .* in the checkpoint, .* now"
    ):
        train(graphs(), config(of_kind(other)), run, resume=True)
    with pytest.raises(CheckpointError):
        Parts(other, shapes_in(run / CHECKPOINT)).load(run / CHECKPOINT)


def test_a_parameter_that_is_not_finite_is_not_saved(run: Path, tmp_path: Path) -> None:
    parts = remembering(kind_of(run))
    parts.save(tmp_path / "c", Position(), {})
    before = (tmp_path / "c").read_bytes()
    for bad in (np.nan, np.inf, -np.inf):
        with torch.no_grad():
            next(iter(parts.policy.parameters())).view(-1)[0] = bad
        with pytest.raises(TrainingError, match="not finite"):
            parts.save(tmp_path / "c", Position(), {})
    assert (tmp_path / "c").read_bytes() == before
