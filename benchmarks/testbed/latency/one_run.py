"""A run to interrupt: single tuples, again and again, until the process is stopped."""

import sys

from benchmarks.testbed.emulator import swept
from benchmarks.testbed.latency.calibration import chain
from benchmarks.testbed.latency.devices import MACHINE, TupleDevices


def main() -> None:
    """Create devices, run two jobs and remove the devices, repeatedly."""
    scaled, devices = chain(MACHINE)
    with swept():
        print("ready", flush=True)
        while True:
            with TupleDevices(scaled.shares, scaled.mbps) as testbed:
                for seed in range(2):
                    testbed.run(
                        scaled, devices, exponential=True, seed=seed, warm_s=0.1, seconds=0.4
                    )


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
