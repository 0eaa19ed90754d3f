"""Accuracy and speed of the engine, against CEPSim, the closed forms and plain Python.

    python -m benchmarks.engine [--problems N] [--shared FOLDER] [--only NAME …]

Errors are errors of relative throughput. CEPSim is represented by the 609 reference runs in
FOLDER/cepsim; that part is skipped if they are missing. Seconds are CPU seconds of one core,
medians over interleaved rounds; a training step is measured in wall time on all cores.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

from benchmarks.engine.agreement import closed_forms, names, ranks
from benchmarks.engine.reference import reference
from benchmarks.engine.speed import linearity, speed, training
from benchmarks.released_data import SHARED


def main() -> None:
    """Print one line per figure."""
    parts: dict[str, Callable[[argparse.Namespace], None]] = {
        "reference": reference,
        "ranks": ranks,
        "closed-forms": closed_forms,
        "names": names,
        "speed": speed,
        "linearity": linearity,
        "training": training,
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--problems", type=int, default=1000, help="number of random problems; default: 1000"
    )
    parser.add_argument(
        "--shared", type=Path, default=SHARED, help="folder that holds CEPSim's reference runs"
    )
    parser.add_argument(
        "--only", nargs="*", choices=parts, default=list(parts), help="parts to run; default: all"
    )
    arguments = parser.parse_args()
    print(f"{'figure':52} {'measured':>26} {'target':>14}")
    for name in arguments.only:
        parts[name](arguments)


if __name__ == "__main__":
    main()
