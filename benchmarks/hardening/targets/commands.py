"""The commands that read each kind of file, and the valid files that they also need."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.hardening.corpus import measured_run, own_files
from benchmarks.hardening.corpus.documents import CEPSIM, CLUSTER
from benchmarks.hardening.corpus.engine_documents import IMPORTED
from benchmarks.hardening.corpus.engine_documents.kafka_streams import KAFKA
from benchmarks.hardening.targets import flink_against, measured, studies
from streamplace.files import write_placement
from streamplace.integrations.kinds import WITH_CLUSTER, WRITERS

BAD, OUT = "BAD", "OUT"
"""Placeholders of the bad file and of the output."""
ENGINE = ("--model", "engine", "--duration", "2")
TUPLES = ("--arrivals", "poisson", "--service", "exponential")
RESTARTED = ("--url", "URL", "--job", "job", "--jar", "job.jar", "--timeout", "0.9")
SERVED = ("flink-rest", "flink-apply", "flink-against")  # readers of servers
AGAINST = ("--against", "URL", "--job", "job", "--seconds", "0", "--timeout", "0.9")
WATCHED = ("--seconds", "0", "--timeout", "0.9", "--mips", "2500")
PASS = ("--objective", "makespan", "--order", "b-level")
SCHEDULED = ("--objective", "makespan", "--placer", "heft")
PUBLISHED = ("--semantics", "placeto")
GREEDY = ("--cluster", "GPUS", "--placer", "greedy")
STUDY = ("study", "dream", "--graphs", "GRAPH", "-o", BAD, "--plots", "none", "--jobs", "1")
UNREACHABLE = ("watch", "flink", "http://127.0.0.1:9", "--job", "job")
ADVISED = ("--devices", "2x2500", "--graph", "GRAPH", "--windows", "1", "--window", "0.01")
MEASURED = ("--config", "MEASURED", "--measure", measured_run.MEASURE)
NO_KINDS = (0, 1, 2, 4)  # valid graphs that run on devices without a kind
COMPARE_OPTIONS = ("--source-rate", "100", "--placers", "greedy", "--jobs", "1")
COMPARE_MAKESPANS = ("--objective", "makespan", "--placers", "round-robin", "--jobs", "1")


@dataclass(frozen=True)
class Command:
    """A command that reads the file under test.

    Parameters
    ----------
    accepts
        The indices of the reader's valid files that the command accepts; None means all. If it is
        empty, the command reads none to its end, because it waits for counters that grow.
    """

    words: tuple[str, ...]
    accepts: tuple[int, ...] | None = None

    @property
    def reads_server(self) -> bool:
        """Whether it reads the responses of a server, whose address its errors must name."""
        servers = (("profile", "flink"), ("apply", "flink"))
        return self.words[:2] in servers or "--against" in self.words

    @property
    def trains(self) -> bool:
        """Whether it trains, with a run time and memory that depend on the config."""
        return self.words[0] == "train"


def _command(*words: str) -> Command:
    return Command(words)


def _first_only(*words: str) -> Command:
    """Return a command that accepts only the first valid file of the reader."""
    return Command(words, (0,))


@dataclass(frozen=True)
class GoodFiles:
    """The paths of valid files by placeholder: ``GRAPH``, ``CLUSTER``, …"""

    paths: Mapping[str, str]

    def filled(self, words: tuple[str, ...], bad: str, out: str) -> list[str]:
        """Return the words of a command with its placeholders replaced by paths."""
        known = {**self.paths, BAD: bad, OUT: out}
        return [_replaced(word, known) for word in words]


def _replaced(word: str, known: Mapping[str, str]) -> str:
    before, mark, name = word.rpartition("=")
    name, dot, suffix = name.partition(".") if name.startswith(f"{OUT}.") else (name, "", "")
    return before + mark + known.get(name, name) + dot + suffix


def without_uplinks(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return a cluster, which is a JSON value, without the links that its groups share."""
    network = {key: value for key, value in cluster["network"].items() if key != "uplinks"}
    return {**cluster, "network": network}


def write_good_files(folder: Path) -> GoodFiles:
    """Write the valid files into a folder."""
    own = own_files.files()
    data = {
        "GRAPH": own_files.PLAIN.encode(),
        "CLUSTER": own["cluster"][1].data,
        "GPUS": own["cluster"][0].data,
        "NO_UPLINKS": json.dumps(without_uplinks(CLUSTER)).encode(),
        "CEPSIM": json.dumps(CEPSIM).encode(),
        "KAFKA": KAFKA.encode(),
        "CONFIG": own_files.CONFIG.encode(),
        "MEASURED": measured_run.CONFIG.encode(),
    }
    suffixes = {"KAFKA": ".txt", "CONFIG": ".toml", "MEASURED": ".toml"}
    paths = {name: folder / (name.lower() + suffixes.get(name, ".json")) for name in data}
    for name, path in paths.items():
        path.write_bytes(data[name])
    paths["PLACEMENT"] = folder / "placement.json"
    write_placement(paths["PLACEMENT"], own_files.placement())
    paths["RUNNING"] = folder / "running.json"
    write_placement(paths["RUNNING"], flink_against.placement())
    return GoodFiles({name: str(path) for name, path in paths.items()})


def _export(kind: str) -> Command:
    """Return a command that exports a placement; requests of CPU need a source rate."""
    words = ("export", BAD, "--to", kind, "-o", OUT)
    return _first_only(*words) if kind in ("kubernetes", "storm-ras") else _command(*words)


def _import(kind: str) -> tuple[Command, ...]:
    plain = _command("import", BAD, "--from", kind, "-o", OUT)
    if kind not in WITH_CLUSTER:
        return (plain,)
    return (plain, _command(*plain.words, "--cluster-out", f"{OUT}.cluster.json"))


COMMANDS: dict[str, tuple[Command, ...]] = {
    "graph": (
        Command(("place", BAD, *GREEDY, "-o", OUT), NO_KINDS),
        Command(("place", BAD, *GREEDY, "--source-rate", "1e3,10", "--json"), NO_KINDS),
        Command(("place", BAD, *GREEDY, "--confidence", "0.9", "-o", OUT), NO_KINDS),
        _first_only("place", BAD, *GREEDY, "--max-latency", "p99=9s", "-o", OUT),
        _first_only("simulate", BAD, "PLACEMENT", *ENGINE, *TUPLES, "--json"),
        Command(("place", BAD, "--cluster", "NO_UPLINKS", *SCHEDULED, "-o", OUT), (0, 1, 2)),
        _first_only("simulate", BAD, "PLACEMENT", "--json"),
        Command(("compare", BAD, "--cluster", "GPUS", *COMPARE_OPTIONS, "-o", OUT), NO_KINDS),
        _first_only("plan", BAD, "--json"),
        Command(("size", BAD, "--time-limit", "0.1", "--json"), (0, 4)),
        _command("info", BAD, "--json"),
    ),
    "dataset": (
        _command("compare", BAD, "--cluster", "GPUS", *COMPARE_OPTIONS, "--json"),
        _command("compare", BAD, "--cluster", "NO_UPLINKS", *COMPARE_MAKESPANS, "-o", OUT),
        _command("info", BAD),
    ),
    "clusters": (
        _command("compare", "GRAPH", "--clusters", BAD, "--cross", *COMPARE_OPTIONS, "--json"),
        Command(
            ("compare", "GRAPH", "--clusters", BAD, "--cross", *COMPARE_MAKESPANS, "-o", OUT), (2,)
        ),
        Command(
            ("compare", "GRAPH", "--clusters", BAD, "--cross", *COMPARE_MAKESPANS, *PUBLISHED), (2,)
        ),
        _command("info", BAD, "--json"),
    ),
    "columns": (
        Command(("place", BAD, *GREEDY, "-o", OUT), (0, 2)),
        _command("info", BAD, "--json"),
    ),
    "dream-graph": (
        _command("place", BAD, "--placer", "single", "-o", OUT),
        _command("simulate", BAD, "CEPSIM", "--json"),
        _command("import", BAD, "--from", "dream", "-o", OUT),
    ),
    "cluster": (
        _command("place", "GRAPH", "--cluster", BAD, "--placer", "single", "-o", OUT),
        Command(("place", "GRAPH", "--cluster", BAD, *SCHEDULED, "--json"), (1, 2)),
        Command(("place", "GRAPH", "--cluster", BAD, *SCHEDULED, *PUBLISHED, "-o", OUT), (1, 2)),
        _command("simulate", "GRAPH", "PLACEMENT", "--cluster", BAD, "--json"),
        _command("compare", "GRAPH", "--cluster", BAD, *COMPARE_OPTIONS, "--json"),
        _first_only("plan", "GRAPH", "--cluster", BAD, "--survive", "1", "--json"),
        _first_only("size", "GRAPH", "--cluster", BAD, "--time-limit", "0.1", "--json"),
        _command("info", BAD),
    ),
    "constraints": (
        _command("place", "GRAPH", "--constraints", BAD, "--placer", "greedy", "-o", OUT),
        _command("place", "GRAPH", "--constraints", BAD, "--placer", "greedy", "--json"),
        _command("explain", "PLACEMENT", "--constraints", BAD, "--json"),
    ),
    "placement": (
        *map(_export, ("csv", "json", "cepsim", *WRITERS)),
        _command("explain", BAD, "--json"),
        _command("explain", BAD, *PASS, "--json"),
        _command("explain", BAD, *PASS, *PUBLISHED, "--json"),
        _command("diff", BAD, "PLACEMENT"),
        _command("diff", "PLACEMENT", BAD, "--json"),
        _command("diff", "PLACEMENT", BAD, *PASS),
        _command("report", BAD, "-o", f"{OUT}.html"),
        _command("report", BAD, "--objective", "makespan", "-o", f"{OUT}.html"),
        _command("simulate", "GRAPH", BAD, "--json"),
        _command("simulate", "GRAPH", BAD, *PASS, "--gantt", f"{OUT}.svg"),
        _command("simulate", "GRAPH", BAD, *PASS, *PUBLISHED, "--gantt", f"{OUT}.png"),
        _command("place", "GRAPH", "--start", BAD, "--max-moves", "1", "-o", OUT),
        _command("place", "GRAPH", "--start", BAD, *PASS, "--max-moves", "1", "-o", OUT),
        _command("info", BAD, "--json"),
    ),
    "assignment": (
        _command("simulate", "GRAPH", BAD, "--cluster", "CLUSTER", "--json"),
        _command("place", "GRAPH", "--start", BAD, "--max-moves", "1", "-o", OUT),
    ),
    "cepsim-placement": (
        _command("simulate", "GRAPH", BAD, "--cluster", "CLUSTER", "--json"),
        _command("info", BAD),
    ),
    "scene": (_command("simulate", "GRAPH", "PLACEMENT", "--scene", BAD, *ENGINE, "--trace", OUT),),
    "jobs": (
        _command("place", "--job-file", BAD, "--placer", "greedy", "--json"),
        _command("place", "--job-file", BAD, *GREEDY, "-o", f"{OUT}.json"),
    ),
    "config": (_command("train", "GRAPH", "--config", BAD, "-o", OUT),),
    "log": (
        _command("curves", BAD, "-o", "OUT.png"),
        _command("curves", BAD, "-o", "OUT.svg", "--json"),
    ),
    "costs": (
        _command("import", "KAFKA", "--from", "kafka-streams", "--costs", BAD, "-o", OUT),
        _command("import", "KAFKA", "--from", "kafka-streams", "--costs", BAD, "--fold"),
    ),
    **{kind: _import(kind) for kind in IMPORTED},
    "storm-profile": (_command("profile", "storm", BAD, "--mips", "2500", "-o", OUT),),
    "flink-rest": (_command("profile", "flink", "URL", "--job", "job", *WATCHED, "-o", OUT),),
    "flink-apply": (_command("apply", "flink", "PLACEMENT", *RESTARTED, "--dry-run"),),
    "flink-against": (Command(("explain", "RUNNING", *AGAINST, "--json"), ()),),
    "info": (_command("info", BAD, "--json"), _command("info", BAD)),
    "study-plan": (_command(*STUDY),),
    "study-results": (_command(*STUDY), _command(*STUDY, "--json")),
    "weights": (
        _command("place", "GRAPH", "--placer", "policy:file=BAD", "-o", OUT),
        _command("info", BAD),
    ),
    "info-weights": (_command("info", BAD, "--json"),),
    "checkpoint": (_command("train", "GRAPH", "--config", "CONFIG", "-o", "RUN", "--resume"),),
    "journal": (
        _first_only(*UNREACHABLE, *ADVISED, "--journal", BAD),  # the other one needs --mode apply
    ),
    "measurements": (_command("train", "GRAPH", *MEASURED, "-o", BAD),),
}
"""Reader -> the commands that read such files."""
WITHOUT_COMMAND = ("flink-threads",)
"""Readers of what a program of the user prints, which the tests of `profile` cover."""
WITH_TORCH = ("weights", "info-weights", "checkpoint", *measured.NAMES, *studies.NAMES)
"""Readers whose commands may load torch. `train` loads it only after it accepts its config."""
