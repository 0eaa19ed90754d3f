"""Names of operators by component, then time, as in Appendix A of the paper, for `lexico`."""

import re
from dataclasses import replace

from streamplace.problem.graph import StreamGraph

OF_STEPS = ("nmt", "enas-ptb")
"""The families whose operators are those of steps in time."""
BY_TIME = re.compile(r"(encoder|decoder|step)(\d+)\.(.+)")


def by_component(graph: StreamGraph) -> StreamGraph:
    """Return a graph whose names have the number of a step at their end: ``decoder.attention.3``.

    The generated names have it first, ``decoder3.attention``. Numbers are sorted as text in both.
    """
    new = {name: BY_TIME.sub(r"\1.\3.\2", name) for name in graph.names}
    return StreamGraph(
        [replace(operator, name=new[operator.name]) for operator in graph.operators],
        [replace(s, source=new[s.source], target=new[s.target]) for s in graph.streams],
        name=graph.name,
        firing=graph.firing,
    )
