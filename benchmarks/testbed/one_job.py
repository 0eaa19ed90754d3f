"""A run to interrupt: jobs of T3, one after another, until the process is stopped."""

import sys

import numpy as np

from benchmarks.testbed.emulator import Emulator, swept
from benchmarks.testbed.scaling import Machine
from benchmarks.testbed.tables import rows, scaled


def main() -> None:
    """Create devices, run a job and remove the devices, repeatedly."""
    row = next(row for row in rows() if row.table == "T3")
    small = scaled(row, Machine())
    devices = np.array(row.placements["P1"], dtype=np.int32)
    with swept():
        print("ready", flush=True)
        while True:
            with Emulator(row.kind, small.shares, small.mbps) as emulator:
                emulator.run(small, devices, 0.2, 0.3)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
