"""Small jobs that placer tests share."""

from itertools import pairwise

from streamplace import Operator, Stream, StreamGraph


def pipeline(*instructions: float, payload_bytes: float = 100.0) -> StreamGraph:
    """Return a chain of operators a, b, c, … of those costs, at 1,000 tuples/s."""
    names = [chr(ord("a") + i) for i in range(len(instructions))]
    return StreamGraph(
        [Operator(n, cost, payload_bytes) for n, cost in zip(names, instructions, strict=True)],
        [Stream(a, b) for a, b in pairwise(names)],
        source_rate=1000.0,
    )
