"""A run for interruptions: job after job of T3 until it is stopped."""

import sys

import numpy as np

from benchmarks.testbed.emulator import Emulator, swept
from benchmarks.testbed.scaling import Machine
from benchmarks.testbed.tables import rows, scaled


def main() -> None:
    """Make devices, run jobs on them, take them away, again and again."""
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
