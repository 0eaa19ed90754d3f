"""Progress of a training run on stderr."""

import time

from streamplace.cli.options import tell

EVERY_S = 10.0  # seconds between lines
FIGURES = ("loss", "reward", "entropy", "gap", "validation")


class TrainingProgress:
    """Prints how training goes: a line every few seconds, and one after each epoch."""

    def __init__(self) -> None:
        self._started = self._last = time.monotonic()

    def __call__(self, record: dict[str, float | int]) -> None:
        """Note a step; see `training.trainer`."""
        now = time.monotonic()
        if now - self._last < EVERY_S and "validation" not in record:
            return
        self._last = now
        where = f"{now - self._started:6.0f} s  epoch {record['epoch']}  step {record['step']}"
        figures = [f"{name} {record[name]:.4f}" for name in FIGURES if name in record]
        tell("  ".join([where, *figures]))
