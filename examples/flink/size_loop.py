"""Numbers of instances on a real Flink: profile, size, apply, until `size` changes nothing.

    python examples/flink/size_loop.py FLINK_HOME [NAME …]

`make flink-size` runs it. Each of four jobs starts with one instance of every operator, and again
with too many. Its operators park, so that busy instances need few cores. Two TaskManagers have the
labels of their devices, and are never restarted; neither has room for a whole job, so that
operators are divided, in other numbers each time. A run is green if at most two restarts lead to
the smallest numbers that meet the target, and if every operator is then as busy as predicted,
within five percentage points.
"""

import json
import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from counting import INSTANCE
from local_flink import LocalFlink, TaskManager
from parked_jobs import JOBS, TARGET, ParkedJob
from scripting import call, say, script, streamplace
from submitted import HERE, Submitted, build

import streamplace as sp
from streamplace.engines.flink.groups import device_labels
from streamplace.engines.flink.plan import running
from streamplace.latency.tuples import deployment_of

FOLDER = Path("flink-loop").resolve() / "size"
STARTS = {"one": 1, "too many": 10}  # instances of every operator
SLOTS = 6  # of a TaskManager, until labels replace their number
LABELS = device_labels(["tm0", "tm1"], most=8).offered
MANAGERS = [TaskManager(name, labels, slots=SLOTS) for name, labels in LABELS.items()]
MIPS = 1000.0  # any unit will do
WARM_UP_S = 25  # until the buffers in front of a bottleneck are full
PROFILE_S = 20
FETCH_S = 10  # until metrics are fetched, at most; idle operators have none that change
POLL_S = 0.1
MOST_RESTARTS = 2
TOLERANCE = 0.05  # of an instance's time
COSTS = "[default]\ninstructions = 1_000  # of the source, which Flink does not measure\n"
CONFIG = """\
taskmanager.memory.network.memory.buffer-debloat.enabled: true
taskmanager.memory.segment-size: 4kb
"""  # otherwise, savepoints under backpressure take minutes


@dataclass
class Trial:
    """One job from one start.

    Parameters
    ----------
    steps
        Numbers of instances after the start and after each restart.
    predicted, measured
        Mean share of the time that the instances of each operator are busy, in the end.
    """

    job: ParkedJob
    start: str
    steps: list[dict[str, int]]
    predicted: dict[str, float]
    measured: dict[str, float]

    @property
    def error(self) -> float:
        """The largest difference between predicted and measured shares."""
        return max(abs(self.predicted[name] - self.measured[name]) for name in self.measured)

    @property
    def is_green(self) -> bool:
        """Whether the numbers and the shares are as they should be."""
        few = len(self.steps) - 1 <= MOST_RESTARTS
        return few and self.steps[-1] == self.job.least() and self.error <= TOLERANCE

    def to_dict(self) -> dict[str, object]:
        """Return the trial as a JSON value."""
        found = {name: value for name, value in vars(self).items() if name != "job"}
        return {"job": self.job.name, **found, "least": self.job.least(), "green": self.is_green}


def run(flink: LocalFlink, jar: Path, job: ParkedJob, start: str) -> Trial:
    """Start a job, and size it until nothing changes."""
    submitted = Submitted(flink, jar, job.arguments(STARTS[start]))
    id_ = submitted.start()
    names = [each.name for each in job.operators]
    steps: list[dict[str, int]] = []
    graph, placement, costs = (FOLDER / f for f in ("graph.json", "placement.json", "costs.toml"))
    costs.write_text(COSTS)
    predicted: dict[str, float] = {}
    while True:
        now = instances(submitted, id_)
        steps.append({name: now[name] for name in names})
        say(f"{job.name} from {start}: {steps[-1]}")
        time.sleep(WARM_UP_S)
        before = busy_ms(flink, id_)
        measure = ["--mips", f"{MIPS:g}", "--seconds", f"{PROFILE_S}", "--logical"]
        measure += ["--costs", str(costs)]
        streamplace("profile", "flink", flink.url, "--job", id_, *measure, "-o", str(graph))
        measured = shares(before, busy_ms(flink, id_))
        found = sized(graph, placement, job.rate)
        if found == now or len(steps) > MOST_RESTARTS + 1:
            break
        predicted = busy_shares(placement)
        command = submitted.apply_command(placement, id_, "--labels", "--json")
        id_ = json.loads(call(command))["job"]
    submitted.cancel()
    own = predicted or busy_shares(placement)
    return Trial(job, start, steps, {n: own[n] for n in names}, {n: measured[n] for n in names})


def sized(graph: Path, placement: Path, rate: float) -> dict[str, int]:
    """Choose the numbers of instances of a profiled job anew; return operator -> number."""
    machine = ["--cluster", str(FOLDER / "cluster.json"), "--target-utilisation", f"{TARGET}"]
    rules = ["--resize", "--minimise", "instances", "--source-rate", f"{rate:g}"]
    answer = streamplace("size", str(graph), *machine, *rules, "-o", str(placement), "--json")
    return {name: int(count) for name, count in json.loads(answer)["parallelism"].items()}


def instances(submitted: Submitted, job: str) -> dict[str, int]:
    """Return operator -> number of its instances that run."""
    return {name: on.total() for name, on in submitted.where(job).items()}


def busy_shares(placement: Path) -> dict[str, float]:
    """Return operator -> the predicted share of time that its instances are busy, on average."""
    read = sp.read_placement(placement)
    of_instances = deployment_of(read.problem, read.devices).thread_utilisation * TARGET
    found: dict[str, list[float]] = defaultdict(list)
    for name, share in zip(read.problem.graph.names, of_instances.tolist(), strict=True):
        found[INSTANCE.sub("", name)].append(share)
    return {name: float(np.mean(of)) for name, of in found.items()}


def busy_ms(flink: LocalFlink, job: str) -> dict[str, tuple[float, float, int]]:
    """Return operator -> a time in ms, its busy time in ms until then, and its instances.

    Flink answers with what it fetched last and fetches anew after an answer. So the time is that at
    which the answer has changed.
    """
    found: dict[str, tuple[float, float, int]] = {}
    known: dict[str, float] = {}
    plan = running(flink.get(f"/jobs/{job}/plan")["plan"], flink.url)
    waiting, until = [*plan.vertices], time.monotonic() + FETCH_S
    while waiting and time.monotonic() < until:
        time.sleep(POLL_S)
        for vertex in [*waiting]:
            subtasks = flink.get(f"/jobs/{job}/vertices/{vertex.id}")["subtasks"]
            ms = float(sum(task["metrics"]["accumulated-busy-time"] for task in subtasks))
            reading = time.monotonic() * 1e3, ms, len(subtasks)
            if known.setdefault(vertex.id, ms) != ms:
                waiting.remove(vertex)
            found.update(dict.fromkeys(vertex.operators, reading))
    return found


def shares(
    before: Mapping[str, tuple[float, float, int]], after: Mapping[str, tuple[float, float, int]]
) -> dict[str, float]:
    """Return operator -> the measured share of time that its instances were busy, on average."""
    return {
        name: (after[name][1] - busy) / (after[name][0] - at) / count
        for name, (at, busy, count) in before.items()
    }


def main(home: Path, names: list[str]) -> int:
    """Run the jobs, or those with some names; return 0 if all trials are green."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    jar = build(FOLDER, home, "ShapedJob", [HERE / "ShapedJob.java", HERE / "Work.java"])
    devices = [{"name": each.name, "mips": MIPS, "cores": SLOTS} for each in MANAGERS]
    cluster = {"format": "streamplace-cluster", "version": 1, "devices": devices}
    (FOLDER / "cluster.json").write_text(json.dumps(cluster))
    trials = []
    with LocalFlink(home, FOLDER, MANAGERS, config=CONFIG) as flink:
        for job in JOBS:
            for start in STARTS if not names or job.name in names else ():
                trials.append(run(flink, jar, job, start))
                say(describe(trials[-1]))
    (FOLDER / "trials.json").write_text(json.dumps([each.to_dict() for each in trials], indent=1))
    for trial in trials:
        print(describe(trial))
    return 0 if all(trial.is_green for trial in trials) else 1


def describe(trial: Trial) -> str:
    """Return a trial in a line."""
    steps = " -> ".join(",".join(map(str, step.values())) for step in trial.steps)
    verdict = "green" if trial.is_green else f"NOT green, least are {trial.job.least()}"
    listed = ", ".join(
        f"{name} {trial.predicted[name]:.3f}/{trial.measured[name]:.3f}" for name in trial.measured
    )
    return (
        f"{trial.job.name} from {trial.start}: {steps}; busy, predicted/measured: {listed}: "
        f"{verdict}"
    )


if __name__ == "__main__":
    with script("flink-size"):
        sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
