"""Whole numbers in given proportions."""

from collections.abc import Sequence


def largest_remainder(total: int, weights: Sequence[int]) -> list[int]:
    """Return whole shares of `total` in proportion to `weights`; ties go to the first."""
    everything = sum(weights)
    shares = [total * weight // everything for weight in weights]
    remainders = [total * weight % everything for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda i: -remainders[i])
    for i in by_remainder[: total - sum(shares)]:
        shares[i] += 1
    return shares
