"""Floating-point operations of algorithms on vectors and matrices.

A multiplication and an addition are one operation each. Terms of lower order than the leading one
are left out.
"""

from math import log2


def fourier(length: float, count: float, *, real: bool) -> float:
    """Return the work of `count` fast Fourier transforms of some length.

    It is 5 N log₂ N for complex numbers and half of it for real ones, by which FFTW states speeds
    (Frigo and Johnson, "The design and implementation of FFTW3", Proceedings of the IEEE 2005).
    """
    return (2.5 if real else 5.0) * length * _log2(length) * count


def sorting(length: float, count: float) -> float:
    """Return the comparisons of `count` sorts of some length: N log₂ N each."""
    return length * _log2(length) * count


def search(length: float, count: float) -> float:
    """Return the comparisons of `count` binary searches in a list of some length."""
    return _log2(length) * count


def distances(pairs: float, size: float) -> float:
    """Return the work of distances: a difference, a power and an addition for each coordinate."""
    return 3.0 * pairs * size


def resampling(taps: float, count: float) -> float:
    """Return the work of `count` elements that are weighted sums of some others.

    One that copies its only other (``nearest``) is one operation.
    """
    return count * (1.0 if taps == 1 else 2.0 * taps)


def lu(rows: float, columns: float) -> float:
    """Return the work of an LU factorisation: 2/3 n³ of a square matrix (LAPACK Note 41)."""
    least = min(rows, columns)
    return 2 * rows * columns * least - (rows + columns) * least**2 + 2 / 3 * least**3


def householder(rows: float, columns: float) -> float:
    """Return the work of a QR factorisation by reflections, without Q: 4/3 n³ of a square matrix.

    Forming Q takes as much (LAPACK Note 41).
    """
    long, short = max(rows, columns), min(rows, columns)
    return 2 * short**2 * (long - short / 3)


def cholesky(size: float) -> float:
    """Return the work of a Cholesky factorisation, n³/3."""
    return size**3 / 3


def inverse(size: float) -> float:
    """Return the work of an inverse by an LU factorisation, 2 n³."""
    return 2 * size**3


def substitution(size: float, solutions: float) -> float:
    """Return the work of solving with a triangular matrix: n² for each right-hand side.

    Parameters
    ----------
    solutions
        Number of elements of all solutions, n for each right-hand side.
    """
    return size * solutions


def _log2(length: float) -> float:
    return log2(length) if length > 1 else 0.0
