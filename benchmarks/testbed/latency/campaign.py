"""The campaign of latencies: answers about limits, and measurements of their placements.

Every answer and every measurement is written as soon as it exists, as one line of JSON. What a
folder has is neither sought nor measured again.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.result_lines import add, origin, read
from benchmarks.testbed import disturbance
from benchmarks.testbed.latency.answers import answer_all, long_run
from benchmarks.testbed.latency.calibration import calibrated
from benchmarks.testbed.latency.devices import TupleDevices
from benchmarks.testbed.latency.lengths import length_for
from benchmarks.testbed.latency.problems import SEED, Case, cases
from benchmarks.testbed.latency.simulated import simulated, values
from benchmarks.testbed.scaling import Scaled, scale
from streamplace.files.writing import make_folder
from streamplace.util.arrays import Ints

RESULTS = "latency-runs.jsonl"
WARM_S = 1.0
FIRST_SEED = 3_000  # of the measurements, which all have different arrivals
MOST_PLACEMENTS = 3
"""Placements of a graph that are measured: those that most answers are about."""


def run(folder: Path, count: int, *, measure: bool = True) -> None:
    """Calibrate, answer, and measure the placements that have no results in the folder."""
    machine = calibrated(make_folder(folder))
    made = cases(count)
    answers = answer_all(folder, made, machine)
    if not measure:
        return
    path = folder / RESULTS
    done = {(one["graph"], tuple(one["placement"])) for one in read(path)}
    with path.open("a") as file:
        for i, (case, about) in enumerate(zip(made, answers, strict=True)):
            numbered = enumerate(chosen(about), FIRST_SEED + MOST_PLACEMENTS * i)
            left = [(seed, row) for seed, row in numbered if (case.name, row) not in done]
            if not left:
                continue
            scaled = scale(case.problem, machine)
            with TupleDevices(scaled.shares, scaled.mbps) as testbed:
                for seed, row in left:
                    one = measured(testbed, scaled, np.array(row, np.int32), case, seed)
                    one["graph_seed"] = SEED
                    add(file, one | origin("benchmarks.testbed.latency"))


def chosen(about: dict[str, Any]) -> list[tuple[int, ...]]:
    """Return the placements of a graph to measure: those of most feasible answers, (V,) each."""
    feasible = (tuple(one["placement"]) for one in about["answers"] if one["answer"] == "feasible")
    starts = [tuple(start["placement"]) for start in about["starts"].values()]
    ordered = [row for row, _ in Counter(feasible).most_common()]
    return list(dict.fromkeys([*ordered, *starts]))[:MOST_PLACEMENTS]


def measured(
    testbed: TupleDevices, scaled: Scaled, devices: Ints, case: Case, seed: int
) -> dict[str, Any]:
    """Return what a placement reaches on the testbed and in simulation, and print it.

    Simulations are a long one, one with the arrivals of the measurement, and several ones of its
    length with others.
    """
    length = length_for(scaled.problem, devices, case.service, WARM_S)
    before = disturbance.times()
    found = testbed.run(
        scaled,
        devices,
        exponential=case.service == "exponential",
        seed=seed,
        warm_s=WARM_S,
        seconds=length.seconds,
    )
    disturbed = disturbance.times().since(before)
    same = simulated(scaled.problem, devices, case.service, seed, WARM_S, length.seconds)
    one = {
        "graph": case.name,
        "service": case.service,
        "placement": devices.tolist(),
        "seed": seed,
        "seconds": length.seconds,
        "tuples": len(found.latencies_s),
        "overloaded": found.overloaded,
        "measured_s": found.values(),
        "simulated_s": long_run(scaled.problem, devices, case),
        "same_arrivals_s": values(same),
        "short_s": length.short_s,
        "late_s": found.late_s.tolist(),
        "busy": found.busy.tolist(),
        "disturbance": disturbed,
    }
    shown = ", ".join(
        f"{quantity} {one['measured_s'][quantity]:.4f} s ({expected:.4f} s simulated)"
        for quantity, expected in one["simulated_s"].items()
    )
    print(f"{case.name}: {shown}; {disturbed}", flush=True)
    return one
