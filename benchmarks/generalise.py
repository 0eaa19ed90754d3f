"""How far the shipped policy carries: other graphs, sizes, clusters and rates.

    python -m benchmarks.generalise [--model MODEL] [--jobs N]

Series-parallel and layered graphs of seeds that no training saw. Other seeds of both kinds were
trained on, of 10 to 150 operators, 2 to 16 devices, NICs and several rates; other sizes, 32 devices
and these unequal ones were not. One thing differs from the middle (100 operators, 5 x 2500 MIPS,
pair links, 1e4 tuples/s) in each cell: operators, devices, their speeds, the network, the source
rate. Mean relative throughput of METIS, its oracle, our policy's one pass and its best of 16.
"""

import argparse
from dataclasses import dataclass, replace

from benchmarks.resampling import interval
from streamplace import Cluster, Network, Recipe, compare
from streamplace.scoring.registry import CLOSED_FORMS

PLACERS = {
    "METIS": "metis",
    "METIS oracle": "metis-oracle",
    "ours, one pass": "policy",
    "ours, best of 16": "policy:samples=16",
}
SEED = 4_000_000  # no training went near
RATE = 1e4
PAIR = Network()


@dataclass(frozen=True)
class Cell:
    """One cell of the table."""

    title: str
    operators: int = 100
    devices: str = "5x2500"
    network: Network = PAIR
    rate: float = 1.0

    @property
    def graphs(self) -> int:
        """Fewer where they are large."""
        return max(8, min(40, 8_000 // self.operators))


MIDDLE = Cell("the middle")
CELLS = (
    MIDDLE,
    *(replace(MIDDLE, title=f"{n} operators", operators=n) for n in (10, 30, 300, 1000, 2000)),
    *(replace(MIDDLE, title=f"{d} devices", devices=f"{d}x2500") for d in (2, 3, 8, 16, 32)),
    replace(MIDDLE, title="2000 operators, 32 devices", operators=2000, devices="32x2500"),
    replace(MIDDLE, title="unequal, 1x7500 and 4x1250", devices="1x7500,4x1250"),
    replace(MIDDLE, title="unequal, 2x5000, 4x2500, 8x1250", devices="2x5000,4x2500,8x1250"),
    *(replace(MIDDLE, title=f"{r:g} x source rate", rate=r) for r in (0.5, 2.0, 4.0)),
    replace(MIDDLE, title="nic", network=Network("nic")),
    replace(MIDDLE, title="nic, 16 devices", devices="16x2500", network=Network("nic")),
)


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=CLOSED_FORMS, default="bottleneck")
    parser.add_argument("--jobs", type=int)
    arguments = parser.parse_args()
    columns = ["graphs", "", *PLACERS, "best of 16 less METIS oracle"]
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for preset in ("series-parallel", "layered"):
        for number, cell in enumerate(CELLS):
            sizes = range(cell.operators, cell.operators + 1)
            recipe = Recipe(preset, cell.graphs, sizes, SEED + number)
            found = compare(
                [recipe.graph(i) for i in range(cell.graphs)],
                list(PLACERS.values()),
                [RATE * cell.rate],
                cluster=Cluster(Cluster.parse(cell.devices).devices, cell.network),
                model=arguments.model,
                jobs=arguments.jobs,
            )
            reached = found.relative_throughput[0]
            means = [f"{mean:.3f}" for mean in reached.mean(axis=1)]
            low, high = interval(reached[3] - reached[1])
            told = [f"{preset}, {cell.title}", str(cell.graphs), *means]
            print(f"| {' | '.join(told)} | {low:+.3f} to {high:+.3f} |", flush=True)


if __name__ == "__main__":
    main()
