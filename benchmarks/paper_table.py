"""The paper's Table 1 for the placers that need no training, beside the published figures.

    python benchmarks/paper_table.py DATASET [--jobs N]

METIS (published weights and by utilisation; k-way and recursive), the fuser and their oracles, at
1e4 and 2e4 tuples/s on 5 x 2500 MIPS with 1000 Mbps links, under `path-average`, which the
published numbers follow, and under `bottleneck`.
"""

import argparse
from itertools import zip_longest

from streamplace import compare, read_dataset
from streamplace.comparison import Row
from streamplace.models import MODELS

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
Figures = tuple[str, ...]
# Ni et al. 2020, Table 1 and section 5, on their 630 test graphs: at 1e4 and at 2e4 tuples/s
PUBLISHED: dict[str, tuple[Figures, Figures]] = {
    "METIS, k = 5": (("0.81", "0.70", "0.88", "", "0.222", "0.30"), ("0.48", "0.37", "0.46")),
    "B": (("0.82", "0.73", "0.87", "0.51", "0.214", "0.27"), ("0.45", "0.37", "0.44", "0.39")),
    "B+F1": (("0.87", "0.80", "0.91", "0.59"), ("0.48", "0.40", "0.47", "0.47")),
    "B+F1&F2": (
        ("0.91", "0.87", "0.97", "0.76", "0.447", "> 0.50"),
        ("0.53", "0.43", "0.50", "0.65"),
    ),
    "IBM fuser": (("", "", "", "", "0.036", "0.16"), ()),
}
COLUMNS = ("", "mean", "Q1", "median", "better than METIS", "min", "> 0.97")


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset")
    parser.add_argument("--jobs", type=int)
    arguments = parser.parse_args()
    graphs = read_dataset(arguments.dataset)
    for model in reversed(MODELS):
        found = compare(graphs, PLACERS, SOURCE_RATES, model=model, jobs=arguments.jobs)
        print(f"\n`{model}`, {len(graphs)} graphs, at 1e4 tuples/s and, in brackets, at 2e4\n")
        print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
        if model == "path-average":
            for system, figures in PUBLISHED.items():
                print(line(f"*{system}, published*", *figures))
        for placer in PLACERS:
            print(line(f"`{placer}`", *(measured(r) for r in found.rows if r.placer == placer)))


def measured(row: Row) -> Figures:
    """Return the columns of the table."""
    better = None if row.placer == "metis" else row.better_than_metis
    figures = (row.mean, row.q1, row.median, better, row.min, row.share_above_0_97)
    return tuple("" if figure is None else f"{figure:.3f}" for figure in figures)


def line(name: str, normal: Figures, stress: Figures) -> str:
    """Return a line of the table."""
    pairs = zip_longest(normal, stress, [""] * (len(COLUMNS) - 1), fillvalue="")
    cells = [f"{a or '-'} ({b})" if b else a or "-" for a, b, _ in pairs]
    return f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
