"""Operators of graphs that the page does not draw, with the numbers of their instances."""

from typing import NamedTuple

import numpy as np

from sim.work import work_of
from streamplace.problem.placement import Placement
from streamplace.report.titled import DRAWN
from streamplace.scoring.flow import flow


class OperatorRow(NamedTuple):
    """An operator, its share of the CPU work of all operators, and its number of devices."""

    name: str
    instances: int
    share: float
    devices: int


def operator_rows(placement: Placement, most: int = DRAWN) -> list[OperatorRow]:
    """Return the operators with the most work, the heaviest first.

    Instances count with their operator; of equal ones, the first in the graph comes first.

    Parameters
    ----------
    most
        Largest number of rows.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    owners, devices = placement.problem.graph.owners, placement.devices
    index = {name: i for i, name in enumerate(dict.fromkeys(owners))}
    owner = np.array([index[name] for name in owners])
    work = np.bincount(owner, work_of(flow(placement.problem), devices))
    instances = np.bincount(owner)
    used = np.bincount(np.unique(np.stack([owner, devices]), axis=1)[0])
    total, names = float(work.sum()) or 1.0, list(index)
    return [
        OperatorRow(names[i], int(instances[i]), float(work[i]) / total, int(used[i]))
        for i in np.argsort(-work, kind="stable")[:most].tolist()
    ]
