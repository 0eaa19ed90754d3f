"""Cores that exports reserve for operators, and names of operators in comments."""

from collections.abc import Sequence

import numpy as np

from streamplace.errors import ProblemError
from streamplace.problem.graph_checks import listed
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.sim.closed_form.contributions import loads_by_stream
from streamplace.sim.work import work_of
from streamplace.util.arrays import Floats


def require_source_rate(problem: Problem, kind: str) -> None:
    """Refuse to reserve CPU under an objective without a source rate.

    Parameters
    ----------
    kind
        The name of the format that reserves it.

    Raises
    ------
    ProblemError
        If the objective has no source rate.
    """
    if not problem.objective.has_rates:
        raise ProblemError(
            f"{kind} reserves the CPU that operators need at a source rate, which a "
            f"{problem.objective.quantity} does not have; keep the placement under throughput by "
            "'streamplace place GRAPH --start FILE --max-moves 0 --objective throughput "
            "--source-rate R -o FILE'"
        )


def operator_cores(placement: Placement, kind: str) -> Floats:
    """Return the number of cores that each operator needs at the source rate, (V,).

    The overhead of messages counts with the operators that send and receive them. With several
    source rates, the highest one is used. The operators of a device may need more than it has.

    Parameters
    ----------
    kind
        The name of the format; see `require_source_rate`.

    Raises
    ------
    ProblemError
        If the objective has no source rate.
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    problem, devices = placement.problem, placement.devices
    require_source_rate(problem, kind)
    arrays = flow(problem)
    shares = work_of(arrays, devices) / arrays.capacity[devices]
    for device in np.unique(devices) if arrays.taxing else ():
        overhead = loads_by_stream(arrays, devices, int(device))
        for end in (arrays.source, arrays.target):
            here = devices[end] == device
            np.add.at(shares, end[here], overhead[here])
    cores = np.array([device.cores for device in problem.cluster.devices])
    used: Floats = shares * problem.target_utilisation * cores[devices]  # of the whole device
    return used


def on_one_line(text: str) -> str:
    """Return a text without line breaks, with escapes for characters beyond ASCII."""
    return " ".join(text.split()).encode("ascii", "backslashreplace").decode()


def ascii_names(names: Sequence[str]) -> str:
    """Return names for a comment: the first in quotes, and the number of others."""
    return on_one_line(listed(names))
