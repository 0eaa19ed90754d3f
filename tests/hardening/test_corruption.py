"""Checkpoints and weights: nothing damaged is loaded, and nothing is changed by it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

from benchmarks.hardening import corruption, impostors, trained
from benchmarks.hardening.damage import (
    OTHERS,
    Damage,
    damaged,
    flipped_bits,
    header_end,
    truncations,
)
from benchmarks.hardening.forks import Forks
from benchmarks.hardening.refusing import (
    CHANGED,
    LINES,
    LOADED,
    TRACEBACK,
    Refusals,
    State,
    Subject,
    refuse,
)
from benchmarks.hardening.trained import KINDS, Trained
from benchmarks.hardening.whole import DEEP
from benchmarks.reference.checkpoint_parts import Parts
from streamplace.errors import CheckpointError
from streamplace.policy.inspect import summary
from streamplace.policy.weights import packed, read_policy, unpacked
from streamplace.training.trainer import POLICY
from tests.hardening.trainings import check, forks, made
from tests.policy.jobs import SCRIPTING

__all__ = ["forks", "made"]
pytestmark = pytest.mark.filterwarnings(SCRIPTING)

SHARE = 0.02  # 100 flips, 20 truncations of each file
FOR_COMMANDS = 0.08


def test_what_is_damaged_is_refused(made: Trained) -> None:
    rows = list(corruption.damage(made, SHARE, 1))
    for row in rows:
        check(row)
    assert [row.tried for row in rows] == [200, 40, 40, 600, 120, 120]
    assert [CHANGED in row.wrong for row in rows] == [True] * 3 + [False] * 3


def test_what_is_not_what_its_name_says_is_refused(made: Trained) -> None:
    check(corruption.instead(made))


def test_commands_refuse_what_is_damaged_and_leave_the_run_alone(
    made: Trained, forks: Forks
) -> None:
    check(corruption.through_commands(made, forks, FOR_COMMANDS, 2, KINDS[:1]))


def subject(load: Callable[[Path], object], made: Trained, state: State | None = None) -> Subject:
    return Subject("a file", (made.run(KINDS[0]) / POLICY).read_bytes(), load, state)


def wrong(reader: Subject, folder: Path, damage: Damage = flipped_bits) -> dict[str, int]:
    """Return what is counted as wrong of a hundred damaged files."""
    refusals = Refusals("files")
    refuse(refusals, reader, damaged(damage, reader.data, 300, np.random.default_rng(3)), folder)
    assert refusals.tried == 300
    row = refusals.row()
    assert (CHANGED in row.wrong) is (reader.state is not None)
    assert row.good != any(row.wrong.values())
    return {kind: count for kind, count in row.wrong.items() if count}


def test_a_reader_that_ignores_the_hash_is_noticed(made: Trained, tmp_path: Path) -> None:
    def careless(path: Path) -> None:
        try:
            safetensors.torch.load(path.read_bytes())
        except safetensors.SafetensorError as error:
            raise CheckpointError(f"{path}: {error}") from None

    assert wrong(subject(careless, made), tmp_path)[LOADED] > 100


class TalkativeError(CheckpointError):
    """One that says more than a line."""

    def __str__(self) -> str:
        return f"Alas!\n{super().__str__()}"


def test_a_reader_that_breaks_or_says_much_is_noticed(made: Trained, tmp_path: Path) -> None:
    def breaks(path: Path) -> None:
        safetensors.torch.load(path.read_bytes())
        read_policy(path)

    def talks(path: Path) -> None:
        try:
            read_policy(path)
        except CheckpointError as error:
            raise TalkativeError(str(error)) from None

    assert wrong(subject(breaks, made), tmp_path)[TRACEBACK] > 100
    assert wrong(subject(talks, made), tmp_path) == {LINES: 300}


def test_what_is_left_half_loaded_is_noticed(made: Trained, tmp_path: Path) -> None:
    """Of every file, and where the next one puts it right as well."""
    seen: list[Path] = []

    def halfway(path: Path) -> None:
        if seen:
            seen.clear()
        else:
            seen.append(path)
        read_policy(path)

    reader = subject(halfway, made, lambda: len(seen))
    assert wrong(reader, tmp_path) == {CHANGED: 300}


@pytest.mark.parametrize("what", ["network", "memory", "best rewards", "a moment of Adam's"])
def test_all_that_a_checkpoint_is_loaded_into_is_looked_at(
    what: str, made: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of a long row of numbers as well, to the last bit."""
    parts: list[Parts] = []

    def kept(kind: str) -> Parts:
        parts.append(Parts(kind))
        return parts[-1]

    monkeypatch.setattr(trained, "Parts", kept)
    (one, _) = made.checkpoints()
    assert one.state is not None
    path = tmp_path / "checkpoint"
    path.write_bytes(one.data)
    one.load(path)
    before = one.state()
    assert one.state() == before
    moments = parts[0].optimiser.state_dict()["state"].values()
    largest = max((of["exp_avg_sq"] for of in moments), key=torch.numel)
    with torch.no_grad():
        if what == "network":
            next(parts[0].network.parameters()).view(-1)[0].nextafter_(torch.tensor(9.0))
        elif what == "memory":
            next(row for *_, row in parts[0].memory.entries())[0] ^= 1
        elif what == "best rewards":
            parts[0].memory.best[-1] += 1.0
        else:
            largest.view(-1)[largest.numel() // 2].nextafter_(torch.tensor(9.0))
    assert one.state() != before


def first_difference(one: bytes, other: bytes) -> int:
    """Return where two files part: at the end of the shorter one at the latest."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


@pytest.mark.parametrize("how", ["flipped bits", "truncations", *OTHERS])
def test_damage_is_damage_and_is_everywhere(how: str, made: Trained) -> None:
    ways = {"flipped bits": flipped_bits, "truncations": truncations, **OTHERS}
    data = (made.run(KINDS[0]) / POLICY).read_bytes()
    found = [one.data for one in damaged(ways[how], data, 300, np.random.default_rng(4))]
    assert len(found) == 300
    assert data not in found
    first = [first_difference(data, one) for one in found]
    header = header_end(data)
    if how == "appended bytes":
        assert set(first) == {len(data)}
    else:
        assert min(first) < 8 < sorted(first)[150]
        assert any(8 <= i < header for i in first)
        assert any(i >= header for i in first)
    if how == "flipped bits":
        whole = int.from_bytes(data)
        assert {(int.from_bytes(one) ^ whole).bit_count() for one in found} == {1}
        assert sum(i < 8 for i in first) == 64


CHANGES: dict[str, Callable[[dict[str, torch.Tensor], dict[str, str]], object]] = {
    "card is no object": lambda tensors, words: words.update(card="7"),
    "card is a list": lambda tensors, words: words.update(card="[]"),
    "card nested deeply": lambda tensors, words: words.update(card="[" * DEEP),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_card_that_is_none(change: str, made: Trained, tmp_path: Path) -> None:
    tensors, words = unpacked((made.run(KINDS[0]) / POLICY).read_bytes(), "")
    CHANGES[change](tensors, words)
    (tmp_path / "x").write_bytes(packed(tensors, words))
    for read in (read_policy, summary):
        with pytest.raises(CheckpointError):
            read(tmp_path / "x")


@pytest.mark.parametrize("words", [None, {"sha256": "0" * 64}], ids=["none", "some"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.complex64])
def test_words_and_numbers_that_nobody_expects(
    words: dict[str, str] | None, dtype: torch.dtype
) -> None:
    """`null` for words, and numbers that numpy knows nothing of, once ended in a traceback."""
    whole = safetensors.torch.save({"x": torch.ones(4, dtype=dtype)}, {"sha256": "0"})
    data = impostors.headed(whole, lambda header: header | {"__metadata__": words})
    with pytest.raises(CheckpointError, match="x: "):
        unpacked(data, "x")
