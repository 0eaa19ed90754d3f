"""CPU time of training steps of shipped configs, and the parameters after them.

    python -m benchmarks.training_steps [--only NAME …]

A config is trained on the same generated graphs with one thread. The first steps, which compile
kernels, are not timed. The hash of the parameters after all steps shows whether two versions learn
the same. `python -m benchmarks.speed_beside FOLDER --only training` runs this file beside another
version.
"""

import argparse
import os
import signal
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from streamplace import Recipe

try:
    training: Any = import_module("streamplace.learning.training")
except ImportError:  # 0.4 and before
    training = import_module("streamplace.training")

GRAPHS = 320
STEPS = {"best": (3, 6), "paper": (50, 200), "released": (3, 6)}
"""Numbers of steps by config: those before the time is taken, and all."""


def main() -> None:
    """Print one line per figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=STEPS, default=list(STEPS))
    options = parser.parse_args()
    recipe = Recipe("dream", GRAPHS, seed=1)
    graphs = [recipe.graph(i) for i in range(GRAPHS)]
    print("figure  measured")
    for name in options.only:
        first, last = STEPS[name]
        times: list[float] = []

        def took(record: dict[str, Any], times: list[float] = times, last: int = last) -> None:
            times.append(time.process_time())
            if record["step"] == last:
                os.kill(os.getpid(), signal.SIGINT)

        with tempfile.TemporaryDirectory() as folder:
            done = training.train(
                graphs, training.read_config(name), Path(folder, "run"), on_step=took
            )
        each = (times[-1] - times[first - 1]) / (last - first)
        print(f"{name}, CPU ms per step  {1000 * each:.2f}")
        print(
            f"{name}, parameters after {done.steps} steps: {done.parameter_hash[:16]}", flush=True
        )


if __name__ == "__main__":
    main()
