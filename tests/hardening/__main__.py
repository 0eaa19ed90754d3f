"""Every target with more cases than the tests try, and what it found.

python -m tests.hardening EXAMPLES SEED [TARGET …]

A target whose cases train or load torch checks a twentieth of the examples.
"""

import subprocess
import sys
import time

from tests.hardening.every_target import TARGETS
from tests.support.paths import ROOT

FEWER = 20


def main() -> int:
    """Print a line per target; return the number of those with a fault."""
    examples, seed, *names = sys.argv[1:]
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    words = " ".join(sys.argv[1:])
    print(f"python -m tests.hardening {words}: commit {commit.stdout.strip()}")  # noqa: T201
    faulty = 0
    for name in names or TARGETS:
        count = int(examples) // (FEWER if TARGETS[name].is_slow else 1)
        began, fault = time.process_time(), "no fault"
        try:
            TARGETS[name].run(count, int(seed))
        except Exception as error:
            faulty += 1
            fault = f"{type(error).__name__}: {error}"
        spent = time.process_time() - began
        print(f"{name}: {count} examples, {spent:.0f} s of CPU, {fault}", flush=True)  # noqa: T201
    print(f"{len(names or TARGETS)} targets, {faulty} with a fault")  # noqa: T201
    return faulty


if __name__ == "__main__":
    sys.exit(bool(main()))
