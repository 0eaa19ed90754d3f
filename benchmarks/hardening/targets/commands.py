"""The commands that read each kind of file, and the valid files that they also need."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hardening.corpus import own_files
from benchmarks.hardening.corpus.documents import CEPSIM
from benchmarks.hardening.corpus.engine_documents.kafka_streams import KAFKA
from streamplace.files import write_placement
from streamplace.integrations.kinds import READERS, WRITERS

BAD, OUT = "BAD", "OUT"
"""Placeholders of the bad file and of the output."""
ENGINE = ("--model", "engine", "--duration", "2")
RESTARTED = ("--url", "URL", "--job", "job", "--jar", "job.jar", "--timeout", "0.9")
SERVED = ("flink-rest", "flink-apply")  # readers of servers
WATCHED = ("--seconds", "0", "--timeout", "0.9", "--mips", "2500")
GREEDY = ("--cluster", "GPUS", "--placer", "greedy")
SCORED = ("--source-rate", "100", "--placers", "greedy", "--jobs", "1")


@dataclass(frozen=True)
class Command:
    """A command that reads the file under test.

    Parameters
    ----------
    accepts
        The indices of the reader's valid files that the command accepts; None means all.
    """

    words: tuple[str, ...]
    accepts: tuple[int, ...] | None = None

    @property
    def reads_server(self) -> bool:
        """Whether it reads the responses of a server, whose address its errors must name."""
        return self.words[:2] in (("profile", "flink"), ("apply", "flink"))

    @property
    def trains(self) -> bool:
        """Whether it trains, with a run time and memory that depend on the config."""
        return self.words[0] == "train"


def _plain(*words: str) -> Command:
    return Command(words)


def _first(*words: str) -> Command:
    return Command(words, (0,))


@dataclass(frozen=True)
class GoodFiles:
    """The paths of valid files by placeholder: ``GRAPH``, ``CLUSTER``, …"""

    paths: Mapping[str, str]

    def filled(self, words: tuple[str, ...], bad: str, out: str) -> list[str]:
        """Return the words of a command with its placeholders replaced by paths."""
        known = {**self.paths, BAD: bad, OUT: out}
        return [_put(word, known) for word in words]


def _put(word: str, known: Mapping[str, str]) -> str:
    before, mark, name = word.rpartition("=")
    name, dot, suffix = name.partition(".") if name.startswith(f"{OUT}.") else (name, "", "")
    return before + mark + known.get(name, name) + dot + suffix


def write_good_files(folder: Path) -> GoodFiles:
    """Write the valid files into a folder."""
    own = own_files.files()
    data = {
        "GRAPH": own_files.PLAIN.encode(),
        "CLUSTER": own["cluster"][1].data,
        "GPUS": own["cluster"][0].data,
        "CEPSIM": json.dumps(CEPSIM).encode(),
        "KAFKA": KAFKA.encode(),
        "CONFIG": own_files.CONFIG.encode(),
    }
    suffixes = {"KAFKA": ".txt", "CONFIG": ".toml"}
    paths = {name: folder / (name.lower() + suffixes.get(name, ".json")) for name in data}
    for name, path in paths.items():
        path.write_bytes(data[name])
    paths["PLACEMENT"] = folder / "placement.json"
    write_placement(paths["PLACEMENT"], own_files.placement())
    return GoodFiles({name: str(path) for name, path in paths.items()})


def _export(kind: str) -> Command:
    return _plain("export", BAD, "--to", kind, "-o", OUT)


COMMANDS: dict[str, tuple[Command, ...]] = {
    "graph": (
        _plain("place", BAD, *GREEDY, "-o", OUT),
        _plain("place", BAD, *GREEDY, "--source-rate", "1e3,10", "--json"),
        _first("simulate", BAD, "PLACEMENT", "--json"),
        _plain("compare", BAD, "--cluster", "GPUS", *SCORED, "-o", OUT),
        _first("plan", BAD, "--json"),
        _plain("info", BAD, "--json"),
    ),
    "dataset": (
        _plain("compare", BAD, "--cluster", "GPUS", *SCORED, "--json"),
        _plain("info", BAD),
    ),
    "columns": (_plain("place", BAD, *GREEDY, "-o", OUT), _plain("info", BAD, "--json")),
    "dream-graph": (
        _plain("place", BAD, "--placer", "single", "-o", OUT),
        _plain("simulate", BAD, "CEPSIM", "--json"),
        _plain("import", BAD, "--from", "dream", "-o", OUT),
    ),
    "cluster": (
        _plain("place", "GRAPH", "--cluster", BAD, "--placer", "single", "-o", OUT),
        _plain("simulate", "GRAPH", "PLACEMENT", "--cluster", BAD, "--json"),
        _plain("compare", "GRAPH", "--cluster", BAD, *SCORED, "--json"),
        _plain("info", BAD),
    ),
    "constraints": (
        _plain("place", "GRAPH", "--constraints", BAD, "--placer", "greedy", "-o", OUT),
        _plain("place", "GRAPH", "--constraints", BAD, "--placer", "greedy", "--json"),
    ),
    "placement": (
        *map(_export, ("csv", "json", "cepsim", *WRITERS)),
        _plain("explain", BAD, "--json"),
        _plain("diff", BAD, "PLACEMENT"),
        _plain("diff", "PLACEMENT", BAD, "--json"),
        _plain("report", BAD, "-o", f"{OUT}.html"),
        _plain("simulate", "GRAPH", BAD, "--json"),
        _plain("place", "GRAPH", "--start", BAD, "--max-moves", "1", "-o", OUT),
        _plain("info", BAD, "--json"),
    ),
    "cepsim-placement": (
        _plain("simulate", "GRAPH", BAD, "--cluster", "CLUSTER", "--json"),
        _plain("info", BAD),
    ),
    "scene": (_plain("simulate", "GRAPH", "PLACEMENT", "--scene", BAD, *ENGINE, "--trace", OUT),),
    "config": (_plain("train", "GRAPH", "--config", BAD, "-o", OUT),),
    "log": (
        _plain("curves", BAD, "-o", "OUT.png"),
        _plain("curves", BAD, "-o", "OUT.svg", "--json"),
    ),
    "costs": (
        _plain("import", "KAFKA", "--from", "kafka-streams", "--costs", BAD, "-o", OUT),
        _plain("import", "KAFKA", "--from", "kafka-streams", "--costs", BAD, "--fold"),
    ),
    **{kind: (_plain("import", BAD, "--from", kind, "-o", OUT),) for kind in READERS},
    "storm-profile": (_plain("profile", "storm", BAD, "--mips", "2500", "-o", OUT),),
    "flink-rest": (_plain("profile", "flink", "URL", "--job", "job", *WATCHED, "-o", OUT),),
    "flink-apply": (_plain("apply", "flink", "PLACEMENT", *RESTARTED, "--dry-run"),),
    "info": (_plain("info", BAD, "--json"), _plain("info", BAD)),
    "weights": (
        _plain("place", "GRAPH", "--placer", "policy:file=BAD", "-o", OUT),
        _plain("info", BAD),
    ),
    "info-weights": (_plain("info", BAD, "--json"),),
    "checkpoint": (_plain("train", "GRAPH", "--config", "CONFIG", "-o", "RUN", "--resume"),),
}
"""Reader -> the commands that read such files."""
WITH_TORCH = ("weights", "info-weights", "checkpoint")
"""Readers whose commands load torch. `train` loads it too, but only after it accepts its config."""
