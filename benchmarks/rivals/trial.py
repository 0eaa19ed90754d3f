"""One run: a job under a load that changes, and one of the two controllers."""

import os
import time
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from cluster_config import ADAPTIVE, SMALL_BUFFERS
from local_flink import LocalFlink, TaskManager
from scripting import ScriptError
from submitted import Submitted, wait
from watched import CLUSTER, Output, Schedule, write_cluster

from benchmarks.rivals.controllers import autoscaling, watching
from benchmarks.rivals.figures import Line, Sample, backlog, figures, rescales, times
from benchmarks.rivals.loads import BEGIN_S, LENGTH_S, WATCH, Pieces, due_s
from benchmarks.rivals.queries import QUERIES

SLOTS = 2  # of each TaskManager
MANAGERS = tuple(TaskManager(name, slots=SLOTS) for name in CLUSTER)
PARK_US = 5000  # for each tuple, so that an instance takes about 200 tuples/s
CONFIG = ADAPTIVE + SMALL_BUFFERS
RUN = "run"
SAMPLE_S, DRAIN_S, SHOWN_S = 0.5, 120.0, 1.0


def run(
    home: Path, folder: Path, jar: Path, query: str, pieces: Pieces, rival: str, built: Path
) -> dict[str, Any]:
    """Return the figures of a run, and what they follow from over time.

    Parameters
    ----------
    folder
        An empty folder, in which the run itself leaves its files in `RUN`.

    A controller or job that ends is the fault of the row.
    """
    own = folder / RUN
    own.mkdir(parents=True)
    schedule, output = Schedule(own / "rates.txt"), Output(own / "out")
    arguments = [str(schedule.path), str(output.folder), query, f"{PARK_US}"]
    write_cluster(folder)
    with LocalFlink(home, folder, MANAGERS, restarts=True, config=CONFIG) as flink:
        submitted = Submitted(flink, jar, arguments)
        job = submitted.start()
        busy = os.getloadavg()[0]
        begun_s = round(schedule.now(), 3)
        for at, rate in [*pieces, (LENGTH_S, 0.0)]:
            schedule.set(rate, begun_s + at)
        how: AbstractContextManager[None] = (
            watching(flink, job, own)
            if rival == WATCH
            else autoscaling(flink, built, SLOTS * len(MANAGERS), own)
        )
        samples, ended = list[Sample](), ""
        try:
            time.sleep(max(begun_s + BEGIN_S - Schedule.now(), 0.0))
            with how:
                samples += _samples(flink, job, begun_s)
        except ScriptError as error:  # a controller or a job that ends is a result, too
            ended = f"{error}"
        wanted = QUERIES[query].expected(len(due_s(pieces))).number
        with suppress(ScriptError):  # what is missing is a figure
            wait(lambda: len({n for n, *_ in output.lines()}) >= len(wanted), "missing", DRAIN_S)
        with suppress(ScriptError):
            submitted.cancel()
    lines = [(number, value, ms / 1e3 - begun_s) for number, value, ms in output.lines()]
    found = figures(query, pieces, lines, samples)
    if ended:
        found |= {"exact": False, "fault": ended}
    return {
        **found,
        "load_average": [round(busy, 2), round(os.getloadavg()[0], 2)],
        "over_time": _over_time(query, pieces, lines, samples),
    }


def _samples(flink: LocalFlink, job: str, begun_s: float) -> list[Sample]:
    """Ask Flink what runs until the load ends.

    Raises
    ------
    ScriptError
        If it never answers.
    """
    found = []
    while (at := Schedule.now() - begun_s) < LENGTH_S:
        with suppress(OSError):
            overview = flink.get("/overview")
            vertices = flink.get(f"/jobs/{job}")["vertices"]
            runs = all(each["status"] == "RUNNING" for each in vertices)
            counts = {each["name"]: int(each["parallelism"]) for each in vertices} if runs else {}
            slots = int(overview["slots-total"]) - int(overview["slots-available"])
            found.append(Sample(at, slots, counts))
        time.sleep(SAMPLE_S)
    if not found:
        raise ScriptError("Flink has not answered while the load ran")
    return found


def _over_time(
    query: str, pieces: Pieces, lines: list[Line], samples: list[Sample]
) -> dict[str, Any]:
    """Return what the picture shows: pieces of the load, backlog, slots, and rescales."""
    due, done, weight = times(query, pieces, lines)
    at_s = np.arange(0.0, LENGTH_S, SHOWN_S)
    waiting = backlog(due, done, at_s) * weight
    changes = [(a.at_s, dict(a.parallelism)) for a in samples if a.at_s in set(rescales(samples))]
    slots = [(round(each.at_s, 1), each.slots) for each in samples]
    return {
        "load": pieces,
        "waiting": [round(float(each)) for each in waiting],
        "slots": [pair for k, pair in enumerate(slots) if k == 0 or pair[1] != slots[k - 1][1]],
        "rescales": [[round(at, 1), counts] for at, counts in changes],
    }
