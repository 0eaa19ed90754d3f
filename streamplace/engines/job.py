"""A job as its engine describes it: operators, how parallel each is, and how tuples are spread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from streamplace.graph import StreamGraph


class Distribution(Enum):
    """How the tuples of a stream are spread over the instances of its target."""

    POINTWISE = "pointwise"
    """Each instance feeds its own share of the others, one to one if there are as many."""
    ALL = "all"
    """Each instance feeds all others, the tuples divided."""
    BROADCAST = "broadcast"
    """Each instance feeds all others, every tuple copied."""
    FIRST = "first"
    """Each instance feeds the first."""


@dataclass(frozen=True)
class Job:
    """What a reader makes of an engine's document.

    Parameters
    ----------
    graph
        An operator of the job is one operator here, however parallel it is; what the document does
        not tell is `UNKNOWN`.
    parallelism
        Operator -> its number of instances, for those with more than one.
    distributions
        (source, target) -> how each stream between them is spread, in the graph's order of streams,
        which of several between the same two goes by selectivity and payload; `ALL` if not told.
    guessed
        Streams (source, target) that the document does not determine.
    notes
        What else it leaves open, a line each.
    """

    graph: StreamGraph
    parallelism: Mapping[str, int] = field(default_factory=dict)
    distributions: Mapping[tuple[str, str], Sequence[Distribution]] = field(default_factory=dict)
    guessed: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
