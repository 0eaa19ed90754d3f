"""A pass and orders of its operators as JSON, from which the report's page computes schedules."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.schedule.state import Order
from streamplace.sim.schedule.task_graph import TaskGraph

COLUMNS = (
    "work",
    "cores",
    "source",
    "target",
    "bits",
    "silent",
    "speed",
    "device_cores",
    "startup_s",
    "kind",
    "measured_row",
    "rate",
    "latency_s",
    "gap_s",
    "overhead_s",
    "overhead_in_s",
    "overhead_s_per_bit",
    "rate_in",
    "gap_in_s",
)


def tasks_to(tasks: TaskGraph) -> dict[str, Any]:
    """Return a task graph as JSON.

    A column of equal numbers is one number. NaN is null, and infinity is the text "Infinity". The
    table of measured times is one column, row by row.
    """
    rows, kinds = tasks.measured_s.shape
    return {
        "operators": tasks.operators,
        "streams": len(tasks.source),
        "devices": tasks.devices,
        "rows": rows,
        "kinds": kinds,
        **{name: _column(getattr(tasks, name)) for name in COLUMNS},
        "measured_s": _column(tasks.measured_s.ravel()),
        "network": tasks.network,
        "multicast": tasks.multicast,
        "barrier": tasks.barrier,
    }


def order_to(order: Order) -> dict[str, Any]:
    """Return the order of operators on devices as JSON: its kind and the operators' positions."""
    return {"kind": order.kind, "position": order.position.tolist()}


def _column(values: NDArray[Any]) -> Any:
    if len(values) and (values == values[0]).all():
        return _plain(values[0].item())
    return [_plain(value) for value in values.tolist()]


def _plain(value: float) -> float | str | None:
    """Return a number that JSON has, or its replacement."""
    if np.isnan(value):
        return None
    return "Infinity" if value == np.inf else value
