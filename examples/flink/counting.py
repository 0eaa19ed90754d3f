"""The counting job: its start, and whether its state is complete."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from local_flink import LocalFlink
from scripting import ScriptError
from submitted import Submitted, wait

ENOUGH = 20  # counts
INSTANCE = re.compile(r"\[\d+\]$")
NOT_CHAINED = {"pipeline.operator-chaining.enabled": "false"}


class Counting(Submitted):
    """A counting job on a cluster.

    Parameters
    ----------
    out
        The folder that the job writes to; emptied.
    rate
        Tuples/s of the source.
    instances
        Instances of "count" before the first placement is applied.
    """

    def __init__(
        self, flink: LocalFlink, jar: Path, out: Path, rate: int = 100, instances: int = 3
    ) -> None:
        super().__init__(flink, jar, [str(rate), str(out), str(instances)])
        self.out = out
        out.mkdir(parents=True, exist_ok=True)
        for file in out.iterdir():
            file.unlink()

    def start(self, config: Mapping[str, str] = MappingProxyType({})) -> str:
        """Start the job without a mapping; return its id when it counts and has a checkpoint."""
        job = super().start(config)
        wait(lambda: sum(map(len, self.counts().values())) > ENOUGH, "nothing arrives")
        wait(lambda: self.checkpoints(job) > 1, "no checkpoints")
        return job

    def counts(self) -> dict[str, list[int]]:
        """Return key -> all counts that were written, sorted."""
        found: dict[str, list[int]] = defaultdict(list)
        for file in self.out.glob("*.txt"):
            for line in file.read_text().splitlines():
                key, _, count = line.partition(" ")
                if count:
                    found[key].append(int(count))
        return {key: sorted(counts) for key, counts in found.items()}

    def check_state(self, replays: bool = False) -> None:
        """Check that the counts of each key are 1, 2, 3, … and that they still grow.

        Parameters
        ----------
        replays
            Whether counts may repeat, since Flink went back to a checkpoint; 1 never does, except
            in the first seconds.
        """
        before = sum(map(len, self.counts().values()))
        wait(lambda: sum(map(len, self.counts().values())) > before + ENOUGH, "nothing arrives")
        for key, counts in self.counts().items():
            distinct = sorted(set(counts))
            missing = len(distinct) != distinct[-1]
            if missing or counts.count(1) > 1 or (not replays and len(counts) > len(distinct)):
                raise ScriptError(f"key {key}: {len(counts)} counts up to {distinct[-1]}")


def labels_in(config: str) -> dict[str, dict[str, int]]:
    """Return device -> label -> amount from the text of ``export --to flink-config``."""
    found: dict[str, dict[str, int]] = {}
    device = ""
    for line in config.splitlines():
        if line.startswith("--- # "):
            device = json.loads(line.removeprefix("--- # "))
        elif ".amount: " in line:
            key, _, amount = line.partition(".amount: ")
            label = key.removeprefix("external-resource.")
            found.setdefault(device, {})[label] = int(amount)
    return found


def devices_of(placement: Path) -> dict[str, Counter[str]]:
    """Return operator -> device -> number of its instances in a placement file."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for name, device in json.loads(placement.read_text())["assignment"].items():
        found[INSTANCE.sub("", name)][device] += 1
    return dict(found)
