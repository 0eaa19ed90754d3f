"""Placements by streamplace: each job is profiled on Flink, and its instances are placed."""

import json
import shlex
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from local_flink import TaskManager
from scripting import say, streamplace
from submitted import Submitted

import streamplace as sp
from benchmarks.contention.cluster import LimitedFlink
from benchmarks.contention.costs import BUSY, CPU
from benchmarks.contention.jobs import INSTRUCTIONS, SpinningJob
from streamplace.engines.flink.groups import Groups, groups_of
from streamplace.engines.flink.slot_groups import mapping

MIPS = 1000.0  # of a device; any unit will do, since all are equal
LOAD = 0.6  # of a core while a job is profiled
ENDLESS = 1e6  # tuples/s of a source that always has more
WARM_S, PROFILE_S = 20.0, 40
DEFAULTS = {"execution.buffer-timeout.interval": "100 ms"}
"""Flink's own default, which the job would lower."""


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
        own = job.folder(folder)
        own.mkdir(parents=True, exist_ok=True)
        if (own / "placement.json").exists():
            continue
        submitted = Submitted(flink, jar, job.arguments(rate))
        id_ = submitted.start(DEFAULTS)
        say(f"profiling {job.name} at {rate:.0f} tuples/s")
        time.sleep(WARM_S)
        _profile(flink, id_, own)
        submitted.cancel()
        devices = [{"name": each.name, "mips": MIPS} for each in flink.task_managers]
        cluster = own / "cluster.json"
        cluster.write_text(
            json.dumps({"format": "streamplace-cluster", "version": 1, "devices": devices})
        )
        placement = str(own / "placement.json")
        streamplace("place", str(own / CPU), "--cluster", str(cluster), "-o", placement)


def _profile(flink: LimitedFlink, job: str, own: Path) -> None:
    """Write the graphs of a running job, by CPU times and by busy times of the same time."""
    command = ["profile", "flink", flink.url, "--job", job, "--mips", f"{MIPS:g}"]
    command += ["--seconds", f"{PROFILE_S}"]
    ways = [["-o", str(own / CPU), *_cpu_times(flink, own)], ["-o", str(own / BUSY)]]
    with ThreadPoolExecutor() as both:
        for done in [both.submit(streamplace, *command, *way) for way in ways]:
            done.result()


def _cpu_times(flink: LimitedFlink, own: Path) -> list[str]:
    """Return the option of `profile flink` that measures CPU times: cores are few here."""
    pids = own / "pids"
    pids.mkdir(exist_ok=True)
    for each in flink.task_managers:
        (pids / each.name).write_text(f"{flink.pids[each.name]}")
    command = f"exec jcmd $(cat {shlex.quote(str(pids))}/{{}}) Thread.print"
    return ["--thread-dumps", shlex.join(["sh", "-c", command])]


def placed(job: SpinningJob, folder: Path) -> Placed:
    """Return the placement of a job that `prepare` wrote."""
    read = sp.read_placement(job.folder(folder) / "placement.json")
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
