"""Calibration of LogP's L: the time that a message takes besides that of its bytes."""

import json
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.testbed.latency.devices import MACHINE, TupleDevices
from benchmarks.testbed.latency.simulated import simulated
from benchmarks.testbed.scaling import NS, Machine, Scaled, scale
from streamplace import Cluster, Network, Operator, Problem, Stream, StreamGraph
from streamplace.files import write_json
from streamplace.util.arrays import Ints

CALIBRATION = "latency-calibration.json"
DEVICES, OPERATORS = 4, 9
COST_S = 0.0003  # CPU time of an operator
RATE = 15.0  # tuples/s, of which few wait
LEAST_BYTES, MOST_BYTES = 100.0, 8_000.0  # of the tuples of a stream, which differ
WARM_S, SECONDS = 0.5, 6.0
REPETITIONS = 5


def calibrate(machine: Machine = MACHINE) -> tuple[Machine, list[float]]:
    """Return the machine with the median of several measurements of L, and all of them.

    A chain of operators goes round the devices, so that every stream is between two of them. With
    the same arrivals, the median latency of the measurement exceeds that of a simulation without L
    by L for each stream. That includes the time by which services usually end late.
    """
    scaled, devices = chain(machine)
    found = []
    with TupleDevices(scaled.shares, scaled.mbps) as testbed:
        for seed in range(REPETITIONS):
            run = testbed.run(
                scaled, devices, exponential=False, seed=seed, warm_s=WARM_S, seconds=SECONDS
            )
            expected = simulated(scaled.problem, devices, "deterministic", seed, WARM_S, SECONDS)
            late_s = float(np.median(run.latencies_s) - np.median(expected))
            found.append(late_s / (OPERATORS - 1))
    return replace(machine, latency_s=max(0.0, float(np.median(found)))), found


def chain(machine: Machine) -> tuple[Scaled, Ints]:
    """Return a chain of operators and its placement, (V,), on devices in turn."""
    names = [f"v{v}" for v in range(OPERATORS)]
    of_1000 = machine.mbps / 1000
    payloads = np.linspace(LEAST_BYTES, MOST_BYTES, OPERATORS - 1) / of_1000
    graph = StreamGraph(
        [Operator(name, COST_S / machine.most_cores * NS, 0.0) for name in names],
        [
            Stream(*ends, payload_bytes=float(payload))
            for ends, payload in zip(pairwise(names), payloads, strict=True)
        ],
        source_rate=RATE,
    )
    problem = Problem(graph, Cluster.equal(DEVICES, network=Network("pair")))
    devices = (np.arange(OPERATORS) % DEVICES).astype(np.int32)
    return scale(problem, replace(machine, tuples_s=RATE)), devices


def calibrated(folder: Path) -> Machine:
    """Return the machine as calibrated for this folder; calibrate it if the folder is new."""
    path = folder / CALIBRATION
    if not path.exists():
        machine, found = calibrate()
        write_json(path, {"machine": asdict(machine), "latency_s": found})
    document = json.loads(path.read_text())
    return Machine(**document["machine"])
