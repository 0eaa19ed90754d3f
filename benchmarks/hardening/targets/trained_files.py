"""Short real training runs of each kind of network, and their files."""

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hardening.targets.loadable_file import LoadableFile
from benchmarks.reference.checkpoint_parts import Parts, shapes_in
from benchmarks.reference.trainings import config, graphs, of_kind
from streamplace.files import write_dataset
from streamplace.policy.hashed_tensors import hash_of
from streamplace.policy.placer import SHIPPED
from streamplace.policy.weights import read_policy
from streamplace.training import train
from streamplace.training.run import CHECKPOINT, POLICY

KINDS = ("device-scorer", "encoder-decoder")
READ = (*KINDS, "placeto", "giph", "rebuild", "doppler", "hsdag", "rnn")
"""All kinds; some campaigns change settings that only `KINDS` have."""


@dataclass(frozen=True)
class TrainedFiles:
    """Training runs of six steps on six graphs with a memory of placements, each in its folder."""

    folder: Path

    @classmethod
    def create(cls, folder: Path) -> "TrainedFiles":
        """Train each kind of network, and write their weights with 32 and with 16 bits."""
        write_dataset(folder / "graphs.jsonl", graphs())
        write_dataset(folder / "graph.json", graphs()[:1])
        trained = cls(folder)
        for kind in READ:
            for half in (False, True):
                settings = config(of_kind(kind), run={"half": half})
                train(graphs(), settings, trained.run(kind, half))
        return trained

    def run(self, kind: str, half: bool = False) -> Path:
        """Return the folder of a run."""
        return self.folder / f"{kind}-{16 if half else 32}"

    def checkpoints(self) -> list[LoadableFile]:
        """Return the checkpoint of each kind of network."""
        return [checkpoint_of(kind, self.run(kind) / CHECKPOINT) for kind in READ]

    def weights(self) -> list[LoadableFile]:
        """Return the trained weights (32 and 16 bits) and the shipped ones."""
        paths = {
            f"{kind} of {16 if half else 32} bits": self.run(kind, half) / POLICY
            for kind in READ
            for half in (False, True)
        }
        paths["shipped, 32 bits"] = SHIPPED
        return [LoadableFile(name, path.read_bytes(), read_policy) for name, path in paths.items()]


def checkpoint_of(kind: str, path: Path) -> LoadableFile:
    """Return a checkpoint and a reader that loads it into a policy, an optimiser and a memory."""
    parts = Parts(kind, shapes_in(path))

    def state() -> Hashable:
        return hash_of({**parts.policy.state_dict(), **parts.loop.state()}, {})

    return LoadableFile(kind, path.read_bytes(), parts.load, state)
