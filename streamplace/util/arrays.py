"""Type aliases for arrays, and the smallest number that keeps all its digits."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]

SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)
"""The smallest number that keeps all its digits: smaller ones round, and training makes them 0."""
