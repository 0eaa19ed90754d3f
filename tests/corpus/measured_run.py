"""The measurements of a run, and the config and the measure that it had."""

import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from streamplace.files import read_dataset
from streamplace.learning.training.measuring.measurement_log import MEASUREMENTS
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats, Ints
from tests.corpus.document import Document
from tests.corpus.own_files import PLAIN

MEASURE = "tests.corpus.measured_run:FirstDevice"
OPERATORS, DEVICES = 3, 2
CONFIG = """\
[policy]
kind = "device-scorer"
sizes = { hidden = 8, hops = 1 }

[[problems]]
devices = ["2x2500"]
source_rates = [100.0]

[[stage]]
algorithm = "reinforce"
epochs = 2
samples = 2
reward = "log-loss"
measurements = 3

[run]
threads = 1
"""


class FirstDevice:
    """A measure by which a placement takes a second, and one more per operator on device 0."""

    def __call__(self, problem: Problem, placements: Ints) -> Floats:
        """Return the seconds of placements, (K,), from device indices, (K, V)."""
        seconds: Floats = 1.0 + (placements == 0).sum(axis=1, dtype=np.float64)
        return seconds


@cache
def measurements() -> Document:
    """Return the measurements of a run with the config on the line graph.

    Another process trains, so that its memory is not counted as that of the reader.
    """
    with TemporaryDirectory() as name:
        command = [sys.executable, "-c", f"from {__name__} import _train; _train({name!r})"]
        subprocess.run(command, check=True, capture_output=True)
        return Document(MEASUREMENTS, (Path(name) / "run" / MEASUREMENTS).read_bytes())


def _train(name: str) -> None:
    """Train in a folder, so that its subfolder ``run`` has measurements."""
    from streamplace.learning.training.config import read_config  # noqa: PLC0415 - torch is heavy
    from streamplace.learning.training.trainer import train  # noqa: PLC0415

    folder = Path(name)
    (folder / "graph.json").write_text(PLAIN)
    (folder / "config.toml").write_text(CONFIG)
    config = read_config(str(folder / "config.toml"))
    train(read_dataset(folder / "graph.json"), config, folder / "run", measure=MEASURE)
