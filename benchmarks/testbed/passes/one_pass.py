"""A run to interrupt: passes, one after another, until the process is stopped."""

import sys

import numpy as np

from benchmarks.testbed.emulator import swept
from benchmarks.testbed.passes.executors import KINDS, Executors
from benchmarks.testbed.passes.problems import problems
from benchmarks.testbed.passes.scaling import scale_pass


def main() -> None:
    """Create devices, run two passes and remove the devices, repeatedly."""
    scaled = scale_pass(next(problems(1)), mean_s=0.01)
    devices = np.arange(len(scaled.seconds), dtype=np.int32) % len(scaled.shares)
    with swept():
        print("ready", flush=True)
        while True:
            for kind in KINDS:
                with Executors(kind, scaled.shares, scaled.mbps) as executors:
                    for _ in range(2):
                        executors.run(scaled.job(devices))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
