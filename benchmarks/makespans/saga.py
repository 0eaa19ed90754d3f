"""HEFT and CPOP against those of the library SAGA, on random problems of its semantics.

    python -m benchmarks.makespans.saga PYTHON [--problems 200]

PYTHON is the interpreter of a separate environment with anrg-saga 2.0.2 (831 MB). Schedule
lengths must be equal. Two things differ from the publications and are accounted for:

- SAGA's mean of a message counts each pair of devices once and each device with itself once, so it
  is (n - 1) / (n + 1) of the mean over pairs of different devices that streamplace uses, for n
  devices;
- its downward rank adds the cost of the task itself where CPOP's adds that of the task before it,
  and divides it by the mean speed; `saga_schedules` replaces it by the published one.

SAGA has had PEFT since 2.1.0, with the link between two devices where the publication has the mean
over all links (`peft:links` here); it is not compared.
"""

import argparse
import json
import subprocess
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import streamplace as sp
from sim.schedule.bounds import times_on
from sim.schedule.lists import list_schedule
from sim.schedule.ranks import downward_rank, mean_messages, mean_seconds, upward_rank
from streamplace.placers.scheduling.lists import preferred_devices
from streamplace.scoring.compiled_pass import compiled_pass

TOLERANCE = 1e-9


def main() -> None:
    """Print how many schedule lengths are equal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python")
    parser.add_argument("--problems", type=int, default=200)
    options = parser.parse_args()
    problems = [drawn(seed) for seed in range(options.problems)]
    script = Path(__file__).with_name("saga_schedules.py")
    theirs = json.loads(
        subprocess.run(
            [options.python, "-P", str(script)],  # -P: this folder has another module `saga`
            input=json.dumps(problems),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
    )
    for i, name in enumerate(("heft", "cpop")):
        ours = np.array([lengths(problem)[i] for problem in problems])
        other = np.array([row[name] for row in theirs])
        equal = np.isclose(ours, other, rtol=TOLERANCE, atol=0.0)
        print(f"{name}: {equal.sum()} of {len(problems)} schedule lengths are equal")
        for seed in np.flatnonzero(~equal)[:5]:
            print(f"  problem {seed}: {ours[seed]:.9g}, SAGA {other[seed]:.9g}")


def drawn(seed: int) -> dict[str, Any]:
    """Return a random problem: tasks with costs, a single source and sink, speeds and sizes."""
    rng = np.random.default_rng(seed)
    tasks, devices = int(rng.integers(4, 40)), int(rng.integers(2, 9))
    edges = {(0, 1)}
    for target in range(1, tasks):
        edges |= {(int(source), target) for source in rng.integers(0, target, rng.integers(1, 4))}
    last = tasks - 1
    edges |= {(v, last) for v in range(last) if all(source != v for source, _ in edges)}
    return {
        "costs": rng.uniform(1, 10, tasks).tolist(),
        "edges": [[v, w, float(rng.uniform(1, 10))] for v, w in sorted(edges)],
        "speeds": rng.uniform(0.5, 2, devices).tolist(),
        "links": [[a, b, float(rng.uniform(0.2, 4))] for a, b in combinations(range(devices), 2)],
    }


def lengths(drawn_problem: dict[str, Any]) -> tuple[float, float]:
    """Return the schedule lengths of HEFT and CPOP, in seconds."""
    compiled = compiled_pass(_problem(drawn_problem))
    tasks, masks = compiled.tasks, compiled.masks
    count = tasks.devices
    seconds = mean_seconds(tasks, *masks)
    messages = mean_messages(tasks, *masks) * ((count - 1) / (count + 1))
    rank = upward_rank(tasks, seconds, messages)
    priority = rank + downward_rank(tasks, seconds, messages)
    preferred = preferred_devices(tasks, priority, times_on(tasks.columns, *masks))
    heft = list_schedule(tasks, compiled.rules, rank)
    cpop = list_schedule(tasks, compiled.rules, priority, None, preferred)
    return heft.length, cpop.length


def _problem(drawn_problem: dict[str, Any]) -> sp.Problem:
    names = [f"t{v}" for v in range(len(drawn_problem["costs"]))]
    graph = sp.StreamGraph(
        [
            sp.Operator(name, 1e6 * cost, 0.0)
            for name, cost in zip(names, drawn_problem["costs"], strict=True)
        ],
        [
            sp.Stream(names[v], names[w], payload_bytes=125_000 * size)
            for v, w, size in drawn_problem["edges"]
        ],
        firing="all",
    )
    both_ways = [(a, b, m) for x, y, m in drawn_problem["links"] for a, b in ((x, y), (y, x))]
    overrides = tuple(sp.LinkOverride(f"d{a}", f"d{b}", mbps) for a, b, mbps in both_ways)
    network = sp.Network("free", latency_s=0.0, overrides=overrides)
    devices = [sp.Device(f"d{d}", speed) for d, speed in enumerate(drawn_problem["speeds"])]
    return sp.Problem(graph, sp.Cluster(devices, network), objective=sp.Makespan())


if __name__ == "__main__":
    main()
