"""Cheaper devices for a size that needs as few devices as were found."""

from dataclasses import replace

import numpy as np

from streamplace.placers.search.annealing import Budget
from streamplace.workflows.sizing.attempts import Attempt, Task, attempt

SHARE = 0.5  # of the time that is left
CHEAPER = 1.0 - 1e-9  # factor below which a price is lower by more than rounding


def on_cheaper_devices(task: Task, best: Attempt, clock: Budget) -> Attempt:
    """Return the same instances on no more devices of a lower price, if such devices are found.

    Parameters
    ----------
    best
        The attempt with the fewest devices that was found.
    """
    prices = [device.price for device in task.cluster.devices]
    known = [price for price in prices if price is not None]
    if len(known) < len(prices) or len({*known}) == 1 or clock.seconds_left() <= 0:
        return best
    priced = replace(task, prices=np.array(known))
    most = len(best.devices)
    found = attempt(priced, best.counts, clock.share(SHARE), most=most)
    before = float(priced.prices[list(best.devices)].sum())
    if len(found.devices) > most or not found.price < before * CHEAPER:
        return best
    return replace(
        best,
        price=float(len(found.devices)),
        placement=found.placement,
        devices=found.devices,
    )
