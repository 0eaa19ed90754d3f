"""Generalisation of the shipped policy to other graphs, sizes, clusters and source rates.

    python -m benchmarks.generalise [--model MODEL] [--jobs N]

The graphs are series-parallel and layered, from seeds that were not used in training. Training used
other seeds of both presets, with 10 to 150 operators, 2 to 16 devices, NICs and several rates. It
did not use other sizes, 32 devices, or the unequal devices below. The reference setting is 100
operators, 5 x 2500 MIPS, pair links and 1e4 tuples/s; every other row changes one or two things in
it: operators, devices, their speeds, the network, the source rate. Figures are the mean relative
throughput of METIS, its oracle, the policy's network alone, one pass and the best of 16 of the
policy, and `search` with as many evaluations as the best of 16 makes; the last column is a 95%
interval of the mean difference, from resampled graphs.
"""

import argparse
from dataclasses import dataclass, replace

from streamplace import Cluster, Network, Recipe, compare
from streamplace.policy.placer import CHANGES
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.util.effect import mean_intervals

ORACLE, BEST_OF_16, SEARCH = "METIS oracle", "policy, best of 16", "search, equal evaluations"
PLACERS = {
    "METIS": "metis",
    ORACLE: "metis-oracle",
    "network alone": "policy:coarsen=0:refine=0",
    "policy, one pass": "policy",
    BEST_OF_16: "policy:samples=16",
    SEARCH: "search:evaluations={}",
}
SEED = 4_000_000  # far from all seeds of training
RATE = 1e4  # tuples/s
PAIR = Network()


@dataclass(frozen=True)
class Setting:
    """One row of the table, for each preset; `rate_factor` multiplies the source rate `RATE`."""

    title: str
    operators: int = 100
    devices: str = "5x2500"
    network: Network = PAIR
    rate_factor: float = 1.0

    @property
    def graphs(self) -> int:
        """Number of graphs: fewer if they are large."""
        return max(8, min(40, 8_000 // self.operators))


REFERENCE = Setting("reference setting")
SETTINGS = (
    REFERENCE,
    *(replace(REFERENCE, title=f"{n} operators", operators=n) for n in (10, 30, 300, 1000, 2000)),
    *(replace(REFERENCE, title=f"{d} devices", devices=f"{d}x2500") for d in (2, 3, 8, 16, 32)),
    replace(REFERENCE, title="2000 operators, 32 devices", operators=2000, devices="32x2500"),
    replace(REFERENCE, title="unequal, 1x7500 and 4x1250", devices="1x7500,4x1250"),
    replace(REFERENCE, title="unequal, 2x5000, 4x2500, 8x1250", devices="2x5000,4x2500,8x1250"),
    *(replace(REFERENCE, title=f"{r:g} x source rate", rate_factor=r) for r in (0.5, 2.0, 4.0)),
    replace(REFERENCE, title="nic", network=Network("nic")),
    replace(REFERENCE, title="nic, 16 devices", devices="16x2500", network=Network("nic")),
)


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--model", choices=CLOSED_FORMS, default="bottleneck", help="default: bottleneck"
    )
    parser.add_argument("--jobs", type=int, help="worker processes; default: one per core")
    arguments = parser.parse_args()
    columns = ["graphs", "number of graphs", *PLACERS, "best of 16 minus METIS oracle"]
    which = list(PLACERS).index
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for preset in ("series-parallel", "layered"):
        for number, setting in enumerate(SETTINGS):
            sizes = range(setting.operators, setting.operators + 1)
            recipe = Recipe(preset, setting.graphs, sizes, SEED + number)
            comparison = compare(
                [recipe.graph(i) for i in range(setting.graphs)],
                [name.format(16 + CHANGES * setting.operators) for name in PLACERS.values()],
                [RATE * setting.rate_factor],
                cluster=Cluster(Cluster.parse(setting.devices).devices, setting.network),
                model=arguments.model,
                jobs=arguments.jobs,
            )
            reached = comparison.relative_throughput[0]
            means = [f"{mean:.3f}" for mean in reached.mean(axis=1)]
            difference = reached[which(BEST_OF_16)] - reached[which(ORACLE)]
            low, high = mean_intervals(difference[None])[0]
            cells = [f"{preset}, {setting.title}", str(setting.graphs), *means]
            print(f"| {' | '.join(cells)} | {low:+.3f} to {high:+.3f} |", flush=True)


if __name__ == "__main__":
    main()
