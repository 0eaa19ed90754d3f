"""Measurement of one workload: every method's placement, in passes that take turns."""

import shlex
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np

from benchmarks.commit import running_commit
from benchmarks.testbed import disturbance
from benchmarks.testbed.emulator import swept
from benchmarks.testbed.passes.measuring import Meter
from benchmarks.testbed.passes.problems import predicted
from benchmarks.testbed.passes.scaling import MEAN_S, scale_pass
from benchmarks.testbed.passes.third_stage.budget import Budget
from benchmarks.testbed.passes.third_stage.methods import (
    climbed,
    doppler,
    interleaved,
    searched,
)
from streamplace import Problem

FINAL = 9
"""Passes of every method's placement at the end, which no method has used."""


def compared(problem: Problem, budget: Budget, seed: int) -> dict[str, Any]:
    """Return the simulated and measured makespans of all methods, in seconds."""
    mean_s = MEAN_S / scale_pass(problem).factor  # so that operators take their own times
    before = disturbance.times()
    with swept(), Meter(problem, repeats=1, mean_s=mean_s) as meter:
        second, third = doppler(problem, meter, budget, seed)
        of_training = meter.passes
        climb = climbed(problem, meter, second, budget, seed)
        of_climb = meter.passes - of_training
        by_name = {
            "stage two": second,
            "stage three": third,
            "climb": climb,
            "search": searched(problem, seed),
        }
        rows = np.array(list(by_name.values()), np.int32)
        seconds = interleaved(meter, rows, FINAL, seed)
    simulated = predicted(problem, rows)
    return {
        "workload": problem.graph.name,
        "operators": len(problem.graph.names),
        "devices": len(problem.cluster.devices),
        "network": problem.cluster.network.kind,
        "seed": seed,
        "budget": asdict(budget),
        "passes": {"stage three": of_training, "climb": of_climb},
        "disturbance": disturbance.times().since(before),
        "methods": {
            name: {
                "placement": row.tolist(),
                "simulated_s": round(float(expected), 6),
                "measured_s": np.round(each, 6).tolist(),
            }
            for (name, row), expected, each in zip(by_name.items(), simulated, seconds, strict=True)
        },
        "command": f"python -m benchmarks.testbed.passes.third_stage {shlex.join(sys.argv[1:])}",
        "commit": running_commit(),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }
