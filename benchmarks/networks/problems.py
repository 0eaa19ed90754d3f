"""Problems of the table: networks of our own, and released ones of ../shared/data."""

from collections.abc import Iterator

from benchmarks.released_data import SHARED
from streamplace.formats.documents import problem_of_file
from streamplace.papers.hsdag.study.registered import NETWORKS, network_problem
from streamplace.problem.problem import Problem

PIPEDREAM_DEVICES = (3, 6)
SCALES = (0.5, 1.0, 2.0)


def own() -> Iterator[tuple[str, Problem]]:
    """Yield the networks that come with streamplace, with three scales of the ratios."""
    for name in NETWORKS:
        for scale in SCALES:
            yield f"{name} x{scale:g}", network_problem(name, scale)


def dnn_partitioning() -> Iterator[tuple[str, Problem]]:
    """Yield one pass through each throughput workload: 3 or 6 accelerators and one CPU."""
    for path in sorted((SHARED / "dnn" / "throughput").glob("*.json")):
        yield path.stem, problem_of_file(path, "dnn-latency")


def pipedream() -> Iterator[tuple[str, Problem]]:
    """Yield the forward pass of each profile on equal accelerators; it has no times of a CPU."""
    for path in sorted((SHARED / "pipedream").glob("*.txt")):
        for devices in PIPEDREAM_DEVICES:
            yield f"{path.stem} on {devices}", problem_of_file(path, "pipedream", devices)


SETS = {"own": own, "dnn-partitioning": dnn_partitioning, "pipedream": pipedream}
"""Name -> function that yields problems with their names."""
