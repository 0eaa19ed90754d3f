"""Cases of the study: task graphs with the networks of devices on which they run."""

from dataclasses import dataclass
from functools import cached_property

from streamplace.generate import Recipe
from streamplace.generate.giph.ranges import MEAN_BYTES, MEAN_COMPUTE
from streamplace.generate.giph.task_graph import BYTES_PER_UNIT, INSTRUCTIONS_PER_UNIT
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem
from streamplace.problem.published import with_published_semantics

GROUPS, ENAS_DEVICES = 40, 8  # section 5.2 of the paper
MEAN_FLOPS, MEAN_TENSOR_BYTES = 4.44e8, 65_300.0  # of operators and streams, over 300 ENAS graphs


@dataclass(frozen=True)
class Cases:
    """The first cases of a recipe.

    Parameters
    ----------
    recipe, count, seed
        See `Recipe`; the released code shuffles its cases by the default seed.
    thorough
        Whether the plain placers that take long are run on them, too.
    """

    recipe: str
    count: int
    seed: int = 123445
    thorough: bool = False

    def problems(self, objective: Makespan, numbers: range | None = None) -> list[Problem]:
        """Return the problems with some numbers, or all; messages follow GiPH's rules."""
        every = range(self.count) if numbers is None else numbers
        return [
            Problem(*with_published_semantics(*pair, "giph"), objective=objective)
            for pair in map(self._pair, every)
        ]

    def _pair(self, number: int) -> tuple[StreamGraph, Cluster]:
        """Return the graph and the cluster of a case."""
        return self._drawn.graph(number), self._drawn.cluster(number)

    @cached_property
    def _drawn(self) -> Recipe:
        return Recipe(self.recipe, self.count, seed=self.seed)


@dataclass(frozen=True)
class EnasCases(Cases):
    """Recurrent cells of ENAS merged to 40 operators, each on a device network of its own.

    The paper (section 5.2) has 8 devices and does not state their speeds. Here they are networks of
    `giph-code`, and the work and bytes of all graphs are multiplied by two fixed numbers, after
    which their means are those of GiPH's task graphs. Every device can run every operator.

    Parameters
    ----------
    recipe, count, seed, thorough
        See `Cases`; the recipe is that of the graphs.
    """

    recipe: str = "enas-ptb:backward=false"
    count: int = 60

    def _pair(self, number: int) -> tuple[StreamGraph, Cluster]:
        drawn = self._drawn.graph(number)
        graph, _ = drawn.with_numbers(
            instructions=drawn.instructions * (MEAN_COMPUTE * INSTRUCTIONS_PER_UNIT / MEAN_FLOPS),
            stream_payload_bytes=drawn.stream_payload_bytes
            * (MEAN_BYTES * BYTES_PER_UNIT / MEAN_TENSOR_BYTES),
        )
        networks = Recipe(f"giph-code:devices={ENAS_DEVICES}", self.count, seed=self.seed)
        return graph, networks.cluster(number)

    @cached_property
    def _drawn(self) -> Recipe:
        return Recipe(self.recipe, self.count, range(GROUPS, GROUPS + 1), self.seed)
