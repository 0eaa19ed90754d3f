"""Undamaged files of another kind or run than their name suggests."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import safetensors.torch
import torch

from benchmarks.hardening.corpus.malformed_texts import DEEP
from benchmarks.hardening.mutation.damage import Damaged
from benchmarks.hardening.targets.loadable_file import LoadableFile
from benchmarks.hardening.targets.trained_files import KINDS, TrainedFiles
from benchmarks.reference.trainings import Sections, config, graphs, of_kind, resumed
from streamplace.policy.hashed_tensors import packed, unpacked
from streamplace.policy.weights import read_policy
from streamplace.pyg import to_pyg
from streamplace.pyg.store import write
from streamplace.training import train
from streamplace.training.run import CHECKPOINT, POLICY

OTHER_RUNS: dict[str, Sections] = {
    "another seed": {"run": {"seed": 1}},
    "other samples": {"stage": {"samples": 4}},
    "another learning rate": {"optimiser": {"rate": 2e-3}},
    "other networks between devices": {"problems": {"networks": ["pair"]}},
    "more held-out graphs": {"run": {"held_out": 2}},
    "a smaller memory": {"memory": {"size": 1}},
}


def checkpoint_of_run(kind: str, trained: TrainedFiles) -> LoadableFile:
    """Return a checkpoint, with the reader of `train --resume`."""
    settings, folder = config(of_kind(kind)), trained.folder / f"resumed-{kind}"
    shutil.copytree(trained.run(kind), folder)

    def load(file: Path) -> None:
        shutil.copy(file, folder / CHECKPOINT)
        with resumed(settings, folder):
            pass

    return LoadableFile(
        f"checkpoint of {kind}", (trained.run(kind) / CHECKPOINT).read_bytes(), load
    )


def weights_of(kind: str, trained: TrainedFiles) -> LoadableFile:
    """Return the weights of a run."""
    return LoadableFile(
        f"weights of {kind}", (trained.run(kind) / POLICY).read_bytes(), read_policy
    )


def checkpoint_impostors(kind: str, trained: TrainedFiles) -> Iterator[Damaged]:
    """Yield checkpoints of other runs, each with one setting changed, and files of other kinds."""
    for number, (change, sections) in enumerate(OTHER_RUNS.items()):
        run = trained.folder / f"other-{kind}-{number}"
        train(graphs(), config({**of_kind(kind), **sections}), run)
        yield Damaged(change, (run / CHECKPOINT).read_bytes())
    run = trained.folder / f"fewer-{kind}"
    train(graphs()[1:], config(of_kind(kind)), run)
    yield Damaged("other graphs", (run / CHECKPOINT).read_bytes())
    (other,) = (name for name in KINDS if name != kind)
    yield Damaged("the other network", (trained.run(other) / CHECKPOINT).read_bytes())
    yield Damaged("weights", (trained.run(kind) / POLICY).read_bytes())
    yield from _malformed((trained.run(kind) / CHECKPOINT).read_bytes(), ("run", "position"))
    yield from _unrelated(trained.folder)


def weights_impostors(kind: str, trained: TrainedFiles) -> Iterator[Damaged]:
    """Yield a checkpoint, and files that claim to be weights."""
    yield Damaged("a checkpoint", (trained.run(kind) / CHECKPOINT).read_bytes())
    yield from _malformed((trained.run(kind) / POLICY).read_bytes(), ("kind", "sizes", "card"))
    yield from _unrelated(trained.folder)


def _malformed(data: bytes, keys: tuple[str, ...]) -> Iterator[Damaged]:
    """Yield variants of a file with other metadata or number types."""
    tensors, metadata = unpacked(data, "")
    yield Damaged("no hash", safetensors.torch.save(tensors, metadata))
    other = {**metadata, "sha256": "0" * 64}
    yield Damaged("the hash of another file", safetensors.torch.save(tensors, other))
    yield Damaged("no metadata", safetensors.torch.save(tensors))
    yield Damaged("only null metadata", with_header(data, lambda header: {"__metadata__": None}))
    yield Damaged(
        "metadata are null", with_header(data, lambda header: header | {"__metadata__": None})
    )
    small = {name: x.to(torch.bfloat16) for name, x in tensors.items()}
    yield Damaged("a number type unknown to numpy", safetensors.torch.save(small, other))
    for key in keys:
        deep = packed(tensors, {**metadata, key: "[" * DEEP})
        yield Damaged(f"{key} nested deeply", deep)
        yield Damaged(f"{key} is a number", packed(tensors, {**metadata, key: "7"}))
        yield Damaged(f"no {key}", packed(tensors, {k: v for k, v in metadata.items() if k != key}))


def _unrelated(folder: Path) -> Iterator[Damaged]:
    """Yield files that are neither checkpoints nor weights."""
    write(folder / "pyg.safetensors", [to_pyg(graph) for graph in graphs()])
    yield Damaged("graphs of PyTorch Geometric", (folder / "pyg.safetensors").read_bytes())
    yield Damaged("one tensor", safetensors.torch.save({"x": torch.zeros(3)}))
    yield Damaged("a dataset", (folder / "graphs.jsonl").read_bytes())


def with_header(data: bytes, change: Callable[[dict[str, object]], dict[str, object]]) -> bytes:
    """Return a safetensors file with a changed header."""
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.dumps(change(json.loads(data[8:end]))).encode()
    return len(header).to_bytes(8, "little") + header + data[end:]
