"""Apportionment of a total into whole numbers."""

from collections.abc import Sequence


def largest_remainder(total: int, weights: Sequence[int]) -> list[int]:
    """Divide `total` into whole numbers in proportion to `weights`; ties go to the first."""
    weight_sum = sum(weights)
    shares = [total * weight // weight_sum for weight in weights]
    remainders = [total * weight % weight_sum for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda i: -remainders[i])
    for i in by_remainder[: total - sum(shares)]:
        shares[i] += 1
    return shares
