"""Benchmark graphs from a seed, with the same bytes on any machine and number of processes.

Built-in families use only uniform random numbers, the four arithmetic operations and square roots,
or round the results of other functions to fewer digits.
Each graph has its own random generator, seeded with (seed, number of the graph).
"""

from dataclasses import dataclass

from streamplace.errors import UsageError
from streamplace.families.family import FAMILIES, ClusterSource, Draw, Family, graph_source, name_of
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.util.checks import check_int, check_seed, check_type, set_plain_numbers

PRESETS = tuple(FAMILIES)
MAX_GRAPHS = 10**7


@dataclass(frozen=True)
class Recipe:
    """A recipe for a dataset of generated graphs.

    Parameters
    ----------
    preset
        A built-in family, such as ``layered``; the name of an installed
        custom family, ``module:function``, or a `Family` itself.
    count
        Number of graphs, 1 to 10 million.
    sizes
        Numbers of operators to draw from; a family of classes uses those that have one of them.
        None: all classes, or `Family.sizes`, by default 10 to 50.
        Families whose settings determine the number of operators accept only None.
    seed
        Seed of the dataset, at least 0.

    Raises
    ------
    UsageError
        On an unknown family, or a value that is out of range.
    """

    preset: str | Family
    count: int
    sizes: range | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        source = graph_source(self.preset)
        check_int("count", self.count, UsageError)
        if not 1 <= self.count <= MAX_GRAPHS:
            raise UsageError(f"count must be 1 to {MAX_GRAPHS} (got {self.count})")
        check_seed(self.seed)
        set_plain_numbers(self, ("count", "seed"))
        if self.sizes is not None:
            check_type("sizes", self.sizes, range, UsageError, "for example range(10, 51)")
            if not self.sizes:
                raise UsageError(f"sizes must not be empty (got {self.sizes})")
        source.check(self.count, self.sizes)

    def graph(self, number: int) -> StreamGraph:
        """Return one graph of the dataset.

        Parameters
        ----------
        number
            Number of the graph, 0 <= number < count.

        Raises
        ------
        IndexError
            If the dataset has no graph of this number.
        UsageError
            If a custom family raises, or returns something other than a graph.
        """
        return graph_source(self.preset).graph(self._draw(number))

    def cluster(self, number: int) -> Cluster:
        """Return the cluster that the family draws for a graph of the dataset; see `graph`.

        Raises
        ------
        UsageError
            If the family has no clusters.
        """
        return self._cluster_source().cluster(self._draw(number))

    def check_clusters(self) -> None:
        """Raise UsageError if the family has no clusters."""
        self._cluster_source()

    def _cluster_source(self) -> ClusterSource:
        source = graph_source(self.preset)
        if not isinstance(source, ClusterSource):
            name = name_of(self.preset)
            others = [each for each in FAMILIES if isinstance(graph_source(each), ClusterSource)]
            raise UsageError(f"family {name!r} has no clusters; {', '.join(others)} have")
        return source

    def _draw(self, number: int) -> Draw:
        check_int("graph number", number, UsageError)
        if not 0 <= number < self.count:
            raise IndexError(f"graph number must be 0 to {self.count - 1} (got {number})")
        name = f"{name_of(self.preset)}_{number}"
        return Draw(number, self.count, self.sizes, self.seed, name)


__all__ = ["PRESETS", "Family", "Recipe"]
