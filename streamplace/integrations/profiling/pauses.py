"""Pauses between readings of a running job."""

import random
from collections.abc import Iterator


def jittered_pauses(seed: int) -> Iterator[float]:
    """Yield random pauses between readings forever: 0.5 to 1.5, in units of the mean pause.

    Flink counts waiting time as busy until the next tuple arrives, and as idle afterwards. If
    the period of the readings were close to a period of the job, that error would drift, and tuples
    would seem to take more or less time than they do. At random times it averages out.
    """
    rng = random.Random(seed)
    while True:
        yield rng.uniform(0.5, 1.5)
