"""Checks of the indices and tables of a flow."""

import numpy as np

from sim.columns import Floats, Ints, all_within, first_misplaced


def check_ends(source: Ints, target: Ints, operators: int) -> None:
    """Refuse streams whose ends, (E,) each, are not operators, or that are not in order.

    Raises
    ------
    ValueError
        If an end is not an operator index, or a stream enters an operator that an earlier one left.
    """
    for ends in (source, target):
        if not all_within(ends, 0.0, operators - 1.0):
            raise ValueError("source and target must be operator indices")
    misplaced = first_misplaced(source, target, operators)
    if misplaced >= 0:
        raise ValueError(f"stream {misplaced} enters an operator that has already emitted")


def check_uplinks(up: Ints, down: Ints, devices: int, own_links: int) -> None:
    """Refuse shared links that do not belong to each of D devices, (D,), or are links of devices.

    Parameters
    ----------
    up, down
        See `sim.flow.Flow`.
    devices
        The number of devices, or 0 if there are no shared links.
    own_links
        The number of links of devices; shared links follow them.

    Raises
    ------
    ValueError
        If that is so.
    """
    for shared in (up, down):
        if shared.shape != (devices,) or shared.dtype != np.int32:
            raise ValueError("up and down must be int32 links of every device, or empty")
        if np.any((shared != -1) & (shared < own_links)):
            raise ValueError("up and down must be links after those of devices, or -1")


def check_times(
    timed: Ints, timed_instructions: Floats, class_of: Ints, operators: int, devices: int
) -> None:
    """Refuse a table of times that does not fit V operators and D devices; see `sim.flow.Flow`.

    Raises
    ------
    ValueError
        If shapes do not match, an index is outside the table, or an entry is negative or NaN.
    """
    rows, classes = timed_instructions.shape
    if timed.shape not in ((0,), (operators,)) or class_of.shape != (devices,):
        raise ValueError("timed and class_of must have a number per operator and per device")
    if len(timed) and not -1 <= timed.min() <= timed.max() < rows:
        raise ValueError("timed must be rows of timed_instructions, or -1")
    if len(timed) and not 0 <= class_of.min() <= class_of.max() < classes:
        raise ValueError("class_of must be columns of timed_instructions")
    if np.isnan(timed_instructions).any() or np.any(timed_instructions < 0):
        raise ValueError("timed_instructions must be at least 0")
