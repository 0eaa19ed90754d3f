"""Resource requirements, with which the adaptive scheduler changes numbers of instances."""

from collections.abc import Mapping
from typing import Any

from tests.support.flink_server.job_documents import MAX_PARALLELISM

UNSUPPORTED = (
    "<Exception on server side:\njava.lang.UnsupportedOperationException: The DefaultScheduler "
    "does not support changing the parallelism without a job restart."
)


def document(requirements: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """Return bounds by vertex."""
    return {
        vertex: {"parallelism": {"lowerBound": low, "upperBound": high}}
        for vertex, (low, high) in requirements.items()
    }


def fault_of(body: Mapping[str, Any], vertices: Mapping[str, str]) -> str:
    """Return why requirements are refused; empty if they are not.

    Parameters
    ----------
    vertices
        Operator -> its vertex.
    """
    for vertex in vertices.values():
        if vertex not in body:
            return f"The request is incomplete, missing job vertex [{vertex}]"
    for vertex, each in body.items():
        low, high = each["parallelism"]["lowerBound"], each["parallelism"]["upperBound"]
        if low > high:
            return f"The requested lower bound [{low}] for job vertex [{vertex}] is higher"
        if high > MAX_PARALLELISM:
            return f"The newly requested parallelism {high} for the job vertex {vertex} exceeds"
    return ""
