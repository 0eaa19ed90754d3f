"""Loading of numba for short commands, without scipy.linalg."""

import sys


def load_numba() -> None:
    """Load numba's NumPy functions without importing scipy.linalg, which takes about 0.13 s.

    `numba.np.arraymath` imports scipy.linalg to find out whether BLAS exists, and uses the answer
    in `np.convolve` and `np.correlate` only: without it, they use a loop. No kernel here calls
    them. Linear algebra in kernels of other packages still finds BLAS, since `ensure_blas` is
    called again when they are compiled.
    """
    if "numba.np.arraymath" in sys.modules:
        return
    from numba.np import linalg  # noqa: PLC0415 - takes 0.25 s

    ensure_blas = linalg.ensure_blas
    linalg.ensure_blas = _no_blas
    try:
        import numba.np.arraymath  # noqa: F401, PLC0415
    finally:
        linalg.ensure_blas = ensure_blas


def _no_blas() -> None:
    raise ImportError
