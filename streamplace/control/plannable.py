"""Checks whether there can be plans for a job at all."""

from collections.abc import Collection

import numpy as np

from streamplace.capacity.size import size
from streamplace.capacity.sizing.shortage import ShortageError
from streamplace.display.text import several
from streamplace.errors import (
    PlacementError,
    ProblemError,
    StreamplaceError,
    UnsuitableError,
)
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph

RATE = 1.0  # tuples/s; `shortage.LOWEST` times this is still a valid source rate
# Enough to find whether any placement is possible; its quality does not matter here.
EVALUATIONS, SECONDS = 1, 1.0
SHOWN = 5  # operators that a message names, so that it stays a line


def check_plannable(graph: StreamGraph, cluster: Cluster) -> None:
    """Refuse a graph for which `size` finds no plan on all devices, whatever is measured.

    Costs and selectivities are measured in every window, so those of the graph do not count: the
    graph is sized for hardly any work.

    Raises
    ------
    UnsuitableError
        If the graph has instances instead of operators, or its firing is ``all``.
    ProblemError
        If its constraints name unknown operators or devices, or the bytes of tuples are unknown.
    InfeasibleError
        If its constraints, labels or limits of devices allow no placement.
    """
    if graph.instance_of:
        raise UnsuitableError(
            "the graph has single instances; name the graph of their operators, which states "
            "numbers of instances"
        )
    if graph.firing == "all":
        raise UnsuitableError(
            'firing: watch does not support "all", where instances divide no work; choose "each" '
            "if operators process single tuples"
        )
    inputs = np.bincount(graph.stream_target, minlength=len(graph.names))
    payload = graph.stream_payload_bytes
    idle = graph.with_numbers(  # no operator has more tuples than all sources together
        instructions=np.ones(len(graph.names)),
        selectivity=1.0 / inputs[graph.stream_target],
        stream_payload_bytes=np.where(graph.carrying, payload, np.nan_to_num(payload)),
    )[0]
    try:
        size(
            *(idle, cluster),
            source_rate=RATE,
            resize=True,
            seconds=SECONDS,
            evaluations=EVALUATIONS,
        )
    except PlacementError:  # not proven
        return
    except StreamplaceError as error:
        # Some rate is possible, and which one is not known before costs are measured.
        if isinstance(error, ShortageError) and error.at_most > 0.0:
            return
        error.update(place=error.fault.without("size").place)  # a command that was not run
        raise


def check_operators(graph: StreamGraph, running: Collection[str]) -> None:
    """Refuse a graph whose operators are not those of the running job.

    Parameters
    ----------
    running
        Names of the job's operators.

    Raises
    ------
    ProblemError
        If the graph has an operator that the job lacks, or the other way round.
    """
    names, known = {*graph.names}, {*running}
    if names == known:
        return
    if absent := names - known:
        fault = f"the graph has operators that the running job lacks: {_listed(absent)}"
    else:
        fault = f"the graph lacks operators that the running job has: {_listed(known - names)}"
    raise ProblemError(
        f"{fault}; name them as the job does ({_listed(known)}), or leave out --graph, so that the "
        "job is measured"
    )


def _listed(names: Collection[str]) -> str:
    return several(sorted(names), SHOWN)
