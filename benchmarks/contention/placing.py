"""Placements by streamplace: each job is profiled on Flink, and its instances are placed."""

import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from local_flink import TaskManager
from scripting import say
from submitted import Submitted, streamplace

import streamplace as sp
from benchmarks.contention.cluster import LimitedFlink
from benchmarks.contention.jobs import INSTRUCTIONS, SpinningJob
from streamplace.integrations.flink.groups import Groups, groups_of
from streamplace.integrations.flink.slot_groups import mapping

MIPS = 1000.0  # of a device; any unit will do, since all are equal
LOAD = 0.3  # of a core while a job is profiled, so that operators rarely wait for a core
ENDLESS = 1e6  # tuples/s of a source that always has more
WARM_S, PROFILE_S = 15.0, 30
COSTS = "[default]\ninstructions = 1_000  # of the source, which Flink does not measure\n"


@dataclass(frozen=True)
class Placed:
    """The placement of a job.

    Parameters
    ----------
    mapping
        What the job's configuration passes to StreamplaceMapping.
    labels
        TaskManager -> label -> amount that it must offer.
    instances
        Operator -> TaskManager -> number of instances.
    """

    mapping: str
    labels: dict[str, dict[str, int]]
    instances: dict[str, Counter[str]]


def prepare(
    flink: LimitedFlink, jar: Path, jobs: Sequence[SpinningJob], folder: Path, core_mips: float
) -> None:
    """Profile and place all jobs that the folder has no placement of.

    Parameters
    ----------
    core_mips
        Speed of a core; only the rate of the profile depends on it.
    """
    rate = LOAD * core_mips * 1e6 / INSTRUCTIONS
    for job in jobs:
        own = folder / job.name.replace(" ", "-")
        own.mkdir(parents=True, exist_ok=True)
        if (own / "placement.json").exists():
            continue
        submitted = Submitted(flink, jar, job.arguments(rate))
        id_ = submitted.start()
        say(f"profiling {job.name} at {rate:.0f} tuples/s")
        time.sleep(WARM_S)
        costs, graph = own / "costs.toml", own / "graph.json"
        costs.write_text(COSTS)
        measure = ["--mips", f"{MIPS:g}", "--seconds", f"{PROFILE_S}", "--costs", str(costs)]
        streamplace("profile", "flink", flink.url, "--job", id_, *measure, "-o", str(graph))
        submitted.cancel()
        devices = [{"name": each.name, "mips": MIPS} for each in flink.task_managers]
        cluster = own / "cluster.json"
        cluster.write_text(
            json.dumps({"format": "streamplace-cluster", "version": 1, "devices": devices})
        )
        where = ["--cluster", str(cluster), "--source-rate", f"{ENDLESS:g}"]
        streamplace("place", str(graph), *where, "-o", str(own / "placement.json"))


def placed(job: SpinningJob, folder: Path) -> Placed:
    """Return the placement of a job that `prepare` wrote."""
    read = sp.read_placement(folder / job.name.replace(" ", "-") / "placement.json")
    groups = groups_of(read, labels=True)
    return Placed(
        mapping(groups),
        {d: dict(labels) for d, labels in groups.labels.items()},
        _instances(groups),
    )


def with_labels(
    names: Sequence[str], placements: Sequence[Placed], slots: int
) -> list[TaskManager]:
    """Return TaskManagers that offer the labels of all placements."""
    found = []
    for name in names:
        labels: dict[str, int] = {}
        for one in placements:
            labels |= one.labels.get(name, {})
        found.append(TaskManager(name, labels, slots=slots))
    return found


def _instances(groups: Groups) -> dict[str, Counter[str]]:
    return {name: Counter(dict(on)) for name, on in groups.instances.items()}
