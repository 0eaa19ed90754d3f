"""Statistics of the families of graphs for makespans, beside the published ones (docs/families.md).

Run `python -m benchmarks.families`; it takes about a minute.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import networkx
import numpy as np

from streamplace import Recipe, StreamGraph

GRAPHS, SEED = 32, 1
PUBLISHED = {
    "enas-cifar": "303.44, 1.47, 95.63 (74-154)",
    "enas-ptb": "500.75, 2.56, 316.09 (216-450)",
    "nmt": "179.44, 2.65, 63.13 (41-69)",
    "chain-mm": "76, 1.05",
    "ffnn": "180, 1.16",
    "transformer-block": "182, 1.29",
    "transformer-block:shards=8": "302, 1.32",
    "transformer-layer": "229, 1.24",
    "giph-code:cases=single": "28 (14-49)",
    "giph-paper:cases=single": "",
    "sensor-fusion": "",
    "sensor-fusion:block=1": "",
}
"""Family -> published operators, streams per operator and diameter."""


@dataclass(frozen=True)
class Shape:
    """The numbers of operators and streams of a graph, and the lengths of paths in streams."""

    operators: int
    streams: int
    longest_path: int
    longest_shortest_path: int
    gflops: float

    @classmethod
    def of(cls, graph: StreamGraph) -> "Shape":
        """Return those of a graph."""
        count = len(graph.names)
        ends = zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True)
        net: networkx.DiGraph[int] = networkx.DiGraph(ends)
        shortest = networkx.all_pairs_shortest_path_length(net)
        return cls(
            count,
            len(graph.streams),
            len(networkx.dag_longest_path(net)) - 1,
            max(max(lengths.values()) for _, lengths in shortest),
            float(graph.instructions.sum()) / 1e9,
        )


def row(family: str) -> list[str]:
    """Return the statistics of a family's graphs as cells of a table."""
    is_sharded = family.startswith(("chain-mm", "ffnn", "transformer"))
    recipe = Recipe(family, 1 if is_sharded else GRAPHS, seed=SEED)
    shapes = [Shape.of(recipe.graph(number)) for number in range(recipe.count)]
    operators = [shape.operators for shape in shapes]
    ratio = sum(shape.streams for shape in shapes) / sum(operators)
    return [
        f"`{family}`",
        summary(operators),
        f"{ratio:.2f}",
        summary([shape.longest_path for shape in shapes]),
        summary([shape.longest_shortest_path for shape in shapes]),
        f"{np.mean([shape.gflops for shape in shapes]):,.4g}",
        PUBLISHED[family],
    ]


def summary(values: Iterable[int]) -> str:
    """Return the mean, and the smallest and the largest value if they differ."""
    known = list(values)
    if min(known) == max(known):
        return f"{known[0]}"
    return f"{np.mean(known):.1f} ({min(known)}-{max(known)})"


def main() -> None:
    """Print the table."""
    titles = [
        *("family", "operators", "streams per operator", "longest path"),
        *("longest shortest path", "10⁹ instructions", "published"),
    ]
    for cells in (titles, ["---"] * len(titles), *map(row, PUBLISHED)):
        print("|" + "|".join(cells) + "|", flush=True)


if __name__ == "__main__":
    main()
