"""Loads of devices and links per source tuple, from which the page computes utilisations."""

from typing import Any

import numpy as np

from sim.links import links_crossed
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow


def sums_of(placement: Placement) -> dict[str, Any]:
    """Return the loads of devices and links for one tuple at the sources.

    Returns
    -------
    dict
        ``work``: instructions on each device, D numbers; ``operators``: number of operators on each
        device, D numbers; ``links``: [link, tuples, bits] of each link that tuples cross, numbered
        as in `Flow`.
    """
    arrays, devices = flow(placement.problem), placement.devices
    rate, count = arrays.source_rate, len(placement.problem.cluster.devices)
    work = np.bincount(devices, weights=arrays.work, minlength=count) / rate
    tuples, bits = np.zeros((2, len(arrays.gap_s)))
    sends, receives = links_crossed(arrays, devices)
    sides = (sends, receives) if arrays.nic else (sends,)  # under pair both are the same link
    for link in sides:
        crosses = link >= 0
        np.add.at(tuples, link[crosses], arrays.stream_tuples[crosses] / rate)
        np.add.at(bits, link[crosses], arrays.stream_bits[crosses] / rate)
    return {
        "work": work.tolist(),
        "operators": np.bincount(devices, minlength=count).tolist(),
        "links": [[int(i), float(tuples[i]), float(bits[i])] for i in np.flatnonzero(tuples)],
    }


def heaviest_work(problem: Problem) -> float:
    """Return the instructions of the heaviest operator for one tuple at the sources."""
    arrays = flow(problem)
    return float(arrays.work.max() / arrays.source_rate)
