"""What every placement of a report has, whatever its objective."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamplace.problem.graph import StreamGraph
from streamplace.problem.placement import Placement

DRAWN = 500  # operators of the largest graph that is drawn in lanes


@dataclass(frozen=True)
class TitledPlacement:
    """A placement in a report.

    Parameters
    ----------
    title
        Title on the page: the name of the placement's file.
    placer
        Name of the placer; empty if unknown.
    placement
        The placement with its problem.
    jobs
        What each of several jobs gets and loses, as `place --job-file --json` prints it; empty for
        a single job.
    """

    title: str
    placer: str
    placement: Placement
    jobs: Sequence[Mapping[str, Any]] = field(default=(), kw_only=True)

    @property
    def drawn(self) -> bool:
        """Whether the page draws the graph in lanes, where users can move operators."""
        return is_drawn(self.placement.problem.graph)


def is_drawn(graph: StreamGraph) -> bool:
    """Return whether the page draws a graph in lanes."""
    return len(graph.names) <= DRAWN
