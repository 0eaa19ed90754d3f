"""Damaged checkpoints and weights are refused, and change no state."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

from benchmarks.hardening.campaigns.corruption import campaign, impostors
from benchmarks.hardening.campaigns.corruption.refusals import (
    CHANGED,
    LOADED,
    NOT_ONE_LINE,
    TRACEBACK,
    Refusals,
    count_refusals,
)
from benchmarks.hardening.corpus.malformed_texts import DEEP
from benchmarks.hardening.harness.forks import Forks
from benchmarks.hardening.mutation.damage import (
    OTHERS,
    Damage,
    damaged,
    flipped_bits,
    header_end,
    truncations,
)
from benchmarks.hardening.targets import trained_files
from benchmarks.hardening.targets.loadable_file import LoadableFile, State
from benchmarks.hardening.targets.trained_files import KINDS, READ, TrainedFiles
from benchmarks.reference.checkpoint_parts import Parts, Shapes
from streamplace.errors import CheckpointError
from streamplace.policy.hashed_tensors import packed, unpacked
from streamplace.policy.inspect import summary
from streamplace.policy.weights import read_policy
from streamplace.training.run import POLICY
from tests.support.hardening.row_checks import check
from tests.support.policies import SCRIPTING

pytestmark = pytest.mark.filterwarnings(SCRIPTING)

SHARE = 0.02  # 100 flips and 20 truncations per file
SHARE_FOR_COMMANDS = 0.08


def test_damaged_files_are_refused(trained: TrainedFiles) -> None:
    rows = list(campaign.damage_rows(trained, SHARE, 1))
    for row in rows:
        check(row)
    files = len(READ), len(trained.weights())
    tries = 100, 20, 20  # flipped bits, truncations and other damage
    assert [row.tried for row in rows] == [count * each for count in files for each in tries]
    assert [CHANGED in row.wrong for row in rows] == [True] * 3 + [False] * 3


def test_files_of_another_kind_or_run_are_refused(trained: TrainedFiles) -> None:
    check(campaign.impostors_row(trained))


def test_commands_refuse_damaged_files_and_keep_the_run(
    trained: TrainedFiles, forks: Forks
) -> None:
    check(campaign.commands_row(trained, forks, SHARE_FOR_COMMANDS, 2, KINDS[:1]))


def loadable_file(
    load: Callable[[Path], object], trained: TrainedFiles, state: State | None = None
) -> LoadableFile:
    return LoadableFile("a file", (trained.run(KINDS[0]) / POLICY).read_bytes(), load, state)


def wrong(valid: LoadableFile, folder: Path, damage: Damage = flipped_bits) -> dict[str, int]:
    """Return how many faults of each kind are counted for 300 damaged files."""
    refusals = Refusals("files")
    count_refusals(
        refusals, valid, damaged(damage, valid.data, 300, np.random.default_rng(3)), folder
    )
    assert refusals.tried == 300
    row = refusals.row()
    assert (CHANGED in row.wrong) is (valid.state is not None)
    assert row.good != any(row.wrong.values())
    return {kind: count for kind, count in row.wrong.items() if count}


def test_a_reader_that_ignores_the_hash_is_noticed(trained: TrainedFiles, tmp_path: Path) -> None:
    def careless(path: Path) -> None:
        try:
            safetensors.torch.load(path.read_bytes())
        except safetensors.SafetensorError as error:
            raise CheckpointError(f"{path}: {error}") from None

    assert wrong(loadable_file(careless, trained), tmp_path)[LOADED] > 100


class TalkativeError(CheckpointError):
    """An error with a message of two lines."""

    def __str__(self) -> str:
        return f"Error:\n{super().__str__()}"


def test_tracebacks_and_messages_of_two_lines_are_noticed(
    trained: TrainedFiles, tmp_path: Path
) -> None:
    def raises_traceback(path: Path) -> None:
        safetensors.torch.load(path.read_bytes())
        read_policy(path)

    def raises_two_lines(path: Path) -> None:
        try:
            read_policy(path)
        except CheckpointError as error:
            raise TalkativeError(str(error)) from None

    assert wrong(loadable_file(raises_traceback, trained), tmp_path)[TRACEBACK] > 100
    assert wrong(loadable_file(raises_two_lines, trained), tmp_path) == {NOT_ONE_LINE: 300}


def test_a_half_loaded_state_is_noticed(trained: TrainedFiles, tmp_path: Path) -> None:
    """Every change counts, even if the next file reverts it."""
    visited: list[Path] = []

    def halfway(path: Path) -> None:
        if visited:
            visited.clear()
        else:
            visited.append(path)
        read_policy(path)

    file = loadable_file(halfway, trained, lambda: len(visited))
    assert wrong(file, tmp_path) == {CHANGED: 300}


@pytest.mark.parametrize("what", ["network", "memory", "best rewards", "moment of Adam"])
def test_a_change_of_any_loaded_state_is_noticed(
    what: str, trained: TrainedFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even a change of the last bit in the middle of a long tensor is noticed."""
    parts: list[Parts] = []

    def kept(kind: str, shapes: Shapes) -> Parts:
        parts.append(Parts(kind, shapes))
        return parts[-1]

    monkeypatch.setattr(trained_files, "Parts", kept)
    one, *_ = trained.checkpoints()
    assert one.state is not None
    path = tmp_path / "checkpoint"
    path.write_bytes(one.data)
    one.load(path)
    before = one.state()
    assert one.state() == before
    kept_state = parts[0].loop.state()
    moments = (x for name, x in kept_state.items() if name.startswith("optimiser.exp_avg_sq."))
    largest = max(moments, key=torch.numel)
    with torch.no_grad():
        if what == "network":
            next(parts[0].policy.parameters()).view(-1)[0].nextafter_(torch.tensor(9.0))
        elif what == "memory":
            next(row for *_, row in parts[0].memory.entries())[0] ^= 1
        elif what == "best rewards":
            parts[0].memory.best[-1] += 1.0
        else:
            largest.view(-1)[largest.numel() // 2].nextafter_(torch.tensor(9.0))
    assert one.state() != before


def first_difference(one: bytes, other: bytes) -> int:
    """Return the first position at which two files differ, at most the shorter length."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


@pytest.mark.parametrize("kind", ["flipped bits", "truncations", *OTHERS])
def test_damage_reaches_every_part_of_a_file(kind: str, trained: TrainedFiles) -> None:
    ways = {"flipped bits": flipped_bits, "truncations": truncations, **OTHERS}
    data = (trained.run(KINDS[0]) / POLICY).read_bytes()
    found = [one.data for one in damaged(ways[kind], data, 300, np.random.default_rng(4))]
    assert len(found) == 300
    assert data not in found
    first = [first_difference(data, one) for one in found]
    header = header_end(data)
    if kind == "appended bytes":
        assert set(first) == {len(data)}
    else:
        assert min(first) < 8 < sorted(first)[150]
        assert any(8 <= i < header for i in first)
        assert any(i >= header for i in first)
    if kind == "flipped bits":
        whole = int.from_bytes(data)
        assert {(int.from_bytes(one) ^ whole).bit_count() for one in found} == {1}
        assert sum(i < 8 for i in first) == 64


CHANGES: dict[str, Callable[[dict[str, torch.Tensor], dict[str, str]], object]] = {
    "card is not an object": lambda tensors, words: words.update(card="7"),
    "card is a list": lambda tensors, words: words.update(card="[]"),
    "card nested deeply": lambda tensors, words: words.update(card="[" * DEEP),
}


@pytest.mark.parametrize("change", CHANGES)
def test_invalid_cards_are_refused(change: str, trained: TrainedFiles, tmp_path: Path) -> None:
    tensors, words = unpacked((trained.run(KINDS[0]) / POLICY).read_bytes(), "")
    CHANGES[change](tensors, words)
    (tmp_path / "x").write_bytes(packed(tensors, words))
    for read in (read_policy, summary):
        with pytest.raises(CheckpointError):
            read(tmp_path / "x")


@pytest.mark.parametrize("words", [None, {"sha256": "0" * 64}], ids=["none", "some"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.complex64])
def test_unexpected_metadata_and_number_types_are_refused(
    words: dict[str, str] | None, dtype: torch.dtype
) -> None:
    """Null metadata and number types that numpy does not know must not cause a traceback."""
    whole = safetensors.torch.save({"x": torch.ones(4, dtype=dtype)}, {"sha256": "0"})
    data = impostors.with_header(whole, lambda header: header | {"__metadata__": words})
    with pytest.raises(CheckpointError, match="x: "):
        unpacked(data, "x")
