"""Loads of all resources under many placements of one job."""

import numpy as np
from numpy.typing import NDArray

from sim.closed_form.bottleneck import add_utilisations
from sim.flow import Columns, Floats, Flow, Ints, as_rows, checked
from sim.jit import kernel
from sim.threads import largest_own


def resource_loads(flow: Flow, placements: NDArray[np.integer]) -> tuple[Floats, Floats]:
    """Return the loads of devices and links under K placements, at the offered rate.

    Parameters
    ----------
    placements
        (K, V) device indices; (V,) counts as K = 1.

    Returns
    -------
    loads
        (K, D + L) utilisations of the devices, then of the links.
    own
        (K,) largest utilisation of the cores that a single operator can use; 0 if each can use all.

    Raises
    ------
    ValueError
        If `placements` does not fit the flow or names an unknown device.
    """
    rows = checked(flow, as_rows(flow, placements))
    loads, own = np.zeros((len(rows), flow.devices + len(flow.gap_s))), np.zeros(len(rows))
    _add_loads(rows, flow.columns, loads, own)
    return loads, own


@kernel
def _add_loads(placements: Ints, flow: Columns, loads: Floats, own: Floats) -> None:
    devices = flow.capacity.shape[0]
    for k in range(placements.shape[0]):
        add_utilisations(placements[k], flow, loads[k, :devices], loads[k, devices:])
        own[k] = largest_own(placements[k], flow)
