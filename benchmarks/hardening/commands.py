"""Which commands take which kind of file, and the good files that they take besides."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hardening import own_files
from benchmarks.hardening.documents import CEPSIM
from benchmarks.hardening.engine_documents import KAFKA
from streamplace.engines.kinds import READERS, WRITERS
from streamplace.files import write_placement

BAD, OUT = "BAD", "OUT"
"""In a command: the bad file, and what it writes."""
ENGINE = ("--model", "engine", "--duration", "2")
WATCHED = ("--seconds", "0", "--timeout", "0.9", "--mips", "2500")
SCORED = ("--source-rate", "100", "--placers", "single", "--jobs", "1")


@dataclass(frozen=True)
class Given:
    """Good files, by what commands call them: ``GRAPH``, ``CLUSTER``, …"""

    paths: Mapping[str, str]

    def filled(self, words: tuple[str, ...], bad: str, out: str) -> list[str]:
        """Return a command with its files put in."""
        known = {**self.paths, BAD: bad, OUT: out}
        return [_put(word, known) for word in words]


def _put(word: str, known: Mapping[str, str]) -> str:
    before, mark, name = word.rpartition("=")
    name, dot, suffix = name.partition(".") if name.startswith(f"{OUT}.") else (name, "", "")
    return before + mark + known.get(name, name) + dot + suffix


def good_files(folder: Path) -> Given:
    """Write the good files."""
    own = own_files.files()
    data = {
        "GRAPH": own_files.PLAIN.encode(),
        "CLUSTER": own["cluster"][1].data,
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
    return Given({name: str(path) for name, path in paths.items()})


def _export(kind: str) -> tuple[str, ...]:
    return ("export", BAD, "--to", kind, "-o", OUT)


COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "graph": (
        ("place", BAD, "--placer", "single", "-o", OUT),
        ("place", BAD, "--placer", "round-robin", "--source-rate", "1e3,10", "--json"),
        ("simulate", BAD, "PLACEMENT", "--json"),
        ("compare", BAD, *SCORED, "-o", OUT),
        ("plan", BAD, "--json"),
        ("info", BAD, "--json"),
    ),
    "dataset": (
        ("compare", BAD, *SCORED, "--json"),
        ("info", BAD),
        ("place", BAD, "--placer", "single", "-o", OUT),
    ),
    "columns": (("place", BAD, "--placer", "single", "-o", OUT), ("info", BAD, "--json")),
    "dream-graph": (
        ("place", BAD, "--placer", "single", "-o", OUT),
        ("simulate", BAD, "CEPSIM", "--json"),
        ("import", BAD, "--from", "dream", "-o", OUT),
    ),
    "cluster": (
        ("place", "GRAPH", "--cluster", BAD, "--placer", "single", "-o", OUT),
        ("simulate", "GRAPH", "PLACEMENT", "--cluster", BAD, "--json"),
        ("compare", "GRAPH", "--cluster", BAD, *SCORED, "--json"),
        ("info", BAD),
    ),
    "constraints": (
        ("place", "GRAPH", "--constraints", BAD, "--placer", "single", "-o", OUT),
        ("place", "GRAPH", "--constraints", BAD, "--placer", "greedy", "--json"),
    ),
    "placement": (
        *map(_export, ("csv", "json", "cepsim", *WRITERS)),
        ("explain", BAD, "--json"),
        ("diff", BAD, "PLACEMENT"),
        ("diff", "PLACEMENT", BAD, "--json"),
        ("report", BAD, "-o", OUT),
        ("simulate", "GRAPH", BAD, "--json"),
        ("place", "GRAPH", "--start", BAD, "--max-moves", "1", "-o", OUT),
        ("info", BAD, "--json"),
    ),
    "cepsim-placement": (
        ("simulate", "GRAPH", BAD, "--cluster", "CLUSTER", "--json"),
        ("info", BAD),
    ),
    "scene": (("simulate", "GRAPH", "PLACEMENT", "--scene", BAD, *ENGINE, "--trace", OUT),),
    "config": (("train", "absent.json", "--config", BAD, "-o", OUT),),
    "log": (("curves", BAD, "-o", "OUT.png"), ("curves", BAD, "-o", "OUT.svg", "--json")),
    "costs": (
        ("import", "KAFKA", "--from", "kafka-streams", "--costs", BAD, "-o", OUT),
        ("import", "KAFKA", "--from", "kafka-streams", "--costs", BAD, "--fold"),
    ),
    **{kind: (("import", BAD, "--from", kind, "-o", OUT),) for kind in READERS},
    "storm-profile": (("profile", "storm", BAD, "--mips", "2500", "-o", OUT),),
    "flink-rest": (("profile", "flink", "URL", "--job", "job", *WATCHED, "-o", OUT),),
    "info": (("info", BAD, "--json"), ("info", BAD)),
    "weights": (("place", "GRAPH", "--placer", "policy:file=BAD", "-o", OUT), ("info", BAD)),
    "info-weights": (("info", BAD, "--json"),),
    "checkpoint": (("train", "GRAPH", "--config", "CONFIG", "-o", "RUN", "--resume"),),
}
"""Reader -> the command lines that read such a file."""
