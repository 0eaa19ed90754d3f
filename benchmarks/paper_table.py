"""The paper's Table 1 for the placers that need no training, beside the published figures.

    python benchmarks/paper_table.py DATASET [--jobs N]

METIS (published weights and by utilisation; k-way and recursive), the fuser and their oracles, at
1e4 and 2e4 tuples/s on 5 x 2500 MIPS with 1000 Mbps links, under `path-average`, which the
published numbers follow, and under `bottleneck`.
"""

import argparse

from streamplace import compare, read_dataset
from streamplace.comparison import Row
from streamplace.problem import Model

PLACERS = (
    "metis",
    "metis:weights=utilisation",
    "metis-recursive",
    "metis-recursive:weights=utilisation",
    "metis-oracle",
    "metis-oracle:weights=utilisation",
    "metis-recursive-oracle",
    "metis-recursive-oracle:weights=utilisation",
    "fuser",
    "fuser-oracle",
)
SOURCE_RATES = (1e4, 2e4)
# Ni et al. 2020, Table 1 and section 5, on their 630 test graphs; None: not published
PUBLISHED: dict[tuple[str, float], tuple[float | None, ...]] = {
    ("METIS, k = 5", 1e4): (0.81, 0.70, 0.88, None, 0.222, 0.30),
    ("B", 1e4): (0.82, 0.73, 0.87, 0.51, 0.214, 0.27),
    ("B+F1", 1e4): (0.87, 0.80, 0.91, 0.59, None, None),
    ("B+F1&F2", 1e4): (0.91, 0.87, 0.97, 0.76, 0.4468, 0.50),
    ("IBM fuser", 1e4): (None, None, None, None, 0.036, 0.16),
    ("METIS, k = 5", 2e4): (0.48, 0.37, 0.46, None, None, None),
    ("B", 2e4): (0.45, 0.37, 0.44, 0.39, None, None),
    ("B+F1", 2e4): (0.48, 0.40, 0.47, 0.47, None, None),
    ("B+F1&F2", 2e4): (0.53, 0.43, 0.50, 0.65, None, None),
}
HEADER = "| | mean | Q1 | median | better than METIS | min | > 0.97 |\n" + "|---" * 7 + "|"


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset")
    parser.add_argument("--jobs", type=int)
    arguments = parser.parse_args()
    graphs = read_dataset(arguments.dataset)
    models: tuple[Model, ...] = ("path-average", "bottleneck")
    for model in models:
        found = compare(graphs, PLACERS, SOURCE_RATES, model=model, jobs=arguments.jobs)
        for rate in SOURCE_RATES:
            print(f"\n**{rate:g} tuples/s, `{model}`, {len(graphs)} graphs**\n\n{HEADER}")
            if model == "path-average":
                for (system, at), figures in PUBLISHED.items():
                    if at == rate:
                        print(line(f"*{system}, published*", figures))
            for row in found.rows:
                if row.source_rate == rate:
                    print(line(f"`{row.placer}`", measured(row)))


def measured(row: Row) -> tuple[float | None, ...]:
    """Return the columns of the table."""
    better = None if row.placer == "metis" else row.better_than_metis
    return (row.mean, row.q1, row.median, better, row.min, row.share_above_0_97)


def line(name: str, figures: tuple[float | None, ...]) -> str:
    """Return a line of the table."""
    return f"| {name} | " + " | ".join("" if x is None else f"{x:.3f}" for x in figures) + " |"


if __name__ == "__main__":
    main()
