"""Operators and links as engines' documents tell them -> a job without any number invented."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Annotated

from pydantic import Field

from streamplace.errors import FormatError
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import UNKNOWN, Operator, Stream, StreamGraph
from streamplace.problem.logical import Distribution, LogicalGraph, Way

Parallelism = Annotated[int, Field(ge=1, le=100_000)]
"""How many instances a document may ask for."""
MOST_LINKS = 1_000_000


@dataclass(frozen=True)
class Link:
    """A stream of the job.

    Parameters
    ----------
    how
        How it spreads its tuples over the instances of its target.
    selectivity
        Tuples on it per tuple its source processes, where the document tells.
    """

    source: str
    target: str
    how: Way = Distribution.ALL
    selectivity: float = UNKNOWN


def job_of(
    names: Sequence[str],
    links: Iterable[Link],
    *,
    name: str = "",
    parallelism: Mapping[str, int] | None = None,
    source_rate: float | None = None,
    source_shares: Mapping[str, float] | None = None,
    constraints: Constraints | None = None,
    by_channel: Sequence[Sequence[str]] = (),
) -> LogicalGraph:
    """Return the job of these operators and links; instructions and payloads are `UNKNOWN`.

    Raises
    ------
    GraphError
        If they are no stream graph.
    """
    ordered = sorted(links, key=_as_in_a_graph)
    graph = StreamGraph(
        [Operator(operator, UNKNOWN, UNKNOWN) for operator in names],
        [Stream(link.source, link.target, link.selectivity) for link in ordered],
        name=name,
        source_rate=source_rate,
        source_shares=source_shares,
        constraints=constraints,
    )
    spread: dict[tuple[str, str], list[Way]] = {}
    for link in ordered:
        spread.setdefault((link.source, link.target), []).append(link.how)
    several = {operator: count for operator, count in (parallelism or {}).items() if count > 1}
    told = {ends: hows for ends, hows in spread.items() if {*hows} != {Distribution.ALL}}
    return LogicalGraph(graph, several, told, by_channel=by_channel)


def check_links(count: int, where: str) -> None:
    """Refuse more streams than anybody draws; joins of joins can make very many of few lines.

    Raises
    ------
    FormatError
        If there are more than a million.
    """
    if count > MOST_LINKS:
        raise FormatError(f"{where}: more than {MOST_LINKS:,} streams")


def _as_in_a_graph(link: Link) -> tuple[bool, float]:
    """Order links between the same two operators as `StreamGraph` orders its streams."""
    unknown = isnan(link.selectivity)
    return unknown, 0.0 if unknown else link.selectivity
