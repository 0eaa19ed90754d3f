"""The lowest load that any number of instances gives the busiest one."""

from collections.abc import Callable

EVERY = 256  # numbers up to which all are tried


def lowest_load(load: Callable[[int], float], least: int, most: int, groups: int | None) -> float:
    """Return the lowest load of the busiest instance over the numbers from `least` to `most`.

    Without groups, the load must fall up to some number and rise from there on, as it does under
    the universal scalability law. With groups, it is computed at the smallest and the largest
    number of each size of the busiest instance's share of groups.

    Parameters
    ----------
    load
        Number of instances -> the load of the busiest one.
    groups
        K, the number of partitions or key groups; None: none.
    """
    if most - least < EVERY:
        return min(map(load, range(least, most + 1)))
    if groups is None:
        return _of_valley(load, least, most)
    tried, number = [load(most)], least
    while number < most:
        size = -(-groups // number)  # groups of the busiest instance
        last = most if size == 1 else min(most, (groups - 1) // (size - 1))
        tried += [load(number), load(last)]
        number = last + 1
    return min(tried)


def _of_valley(load: Callable[[int], float], least: int, most: int) -> float:
    """Return the lowest load by halving the range."""
    while least < most:
        middle = (least + most) // 2
        if load(middle) <= load(middle + 1):
            most = middle
        else:
            least = middle + 1
    return load(least)
