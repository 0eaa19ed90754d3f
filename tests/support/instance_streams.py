"""The streams between instances of operators."""

from streamplace.formats.costs import Costs, DefaultForm
from streamplace.problem.expansion import to_instances
from streamplace.problem.logical import LogicalGraph


def receivers_of(job: LogicalGraph, operator: str) -> dict[int, list[int]]:
    """Return the numbers of the instances that each instance of an operator feeds."""
    found: dict[int, list[int]] = {}
    for stream in to_instances(job).streams:
        name, number = _numbered(stream.source)
        if name == operator:
            found.setdefault(number, []).append(_numbered(stream.target)[1])
    return found


def selectivities_of(job: LogicalGraph, operator: str) -> set[float]:
    """Return the share of its tuples that an instance sends to each instance that it feeds."""
    costed = Costs(default=DefaultForm(instructions=1, payload_bytes=1, selectivity=1)).of(job)
    streams = to_instances(costed).streams
    return {s.selectivity for s in streams if _numbered(s.source)[0] == operator}


def _numbered(instance: str) -> tuple[str, int]:
    name, _, rest = instance.partition("[")
    return name, int(rest.rstrip("]") or 0)
