"""Seeds of the runs of a study."""

import numpy as np


def seed_of(*numbers: int) -> int:
    """Return a seed for a run with some numbers, at least 0; other numbers have another seed."""
    return int(np.random.SeedSequence(list(numbers)).generate_state(1)[0])
