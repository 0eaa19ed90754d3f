"""The paper's Table 1 with published and measured figures, and its Figures 5 and 6.

    python -m benchmarks.paper_table DATASET [--model MODEL …] [--jobs N] [--figures FOLDER]

The rows are METIS (k-way and recursive, with the published weights and with weights by
utilisation), the fuser, their oracles, the paper's allocators with weights trained by this project,
the shipped policy, and annealing. The source rates are 1e4 and 2e4 tuples/s, on 5 x 2500 MIPS with
1000 Mbps links. The models are `path-average`, which the published numbers follow, and
`bottleneck`. Every row is printed as soon as it is measured. The last column is a 95% interval of
the mean difference from METIS, from resampled graphs.
"""

import argparse
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path

import numpy as np

from benchmarks.resampling import interval
from streamplace import compare, read_dataset
from streamplace.files.atomic import make_folder
from streamplace.plots.comparison import devices_picture, throughput_picture
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.workflows.comparison import REFERENCE, Comparison

WEIGHTS = Path(__file__).parent / "weights"

PLACERS = {
    "METIS": "metis",
    "METIS, weights by utilisation": "metis:weights=utilisation",
    "METIS recursive": "metis-recursive",
    "METIS recursive, by utilisation": "metis-recursive:weights=utilisation",
    "METIS oracle": "metis-oracle",
    "METIS oracle, by utilisation": "metis-oracle:weights=utilisation",
    "METIS recursive oracle": "metis-recursive-oracle",
    "METIS recursive oracle, by utilisation": "metis-recursive-oracle:weights=utilisation",
    "fuser": "fuser",
    "fuser oracle": "fuser-oracle",
    "B": f"policy:file={WEIGHTS / 'b.safetensors'}",
    "B+F1": f"policy:file={WEIGHTS / 'b-f1.safetensors'}",
    "B+F1&F2": f"policy:file={WEIGHTS / 'b-f1-f2.safetensors'}",
    "policy, one pass": "policy",
    "policy, best of 16": "policy:samples=16",
    "annealing": "search",
}
ROWS_IN_FIGURES = (
    "METIS",
    "METIS recursive oracle",
    "fuser",
    "B",
    "B+F1&F2",
    "policy, one pass",
    "annealing",
)
SOURCE_RATES = (1e4, 2e4)
Figures = tuple[str, ...]
"""The cells of a row at one source rate, in the order of `COLUMNS`; missing ones are empty."""
# Ni et al. 2020, Table 1 and section 5, on their 630 test graphs: at 1e4 and at 2e4 tuples/s
PUBLISHED: dict[str, tuple[Figures, Figures]] = {
    "METIS, k = 5": (("0.81", "0.70", "0.88", "", "", "0.222", "0.30"), ("0.48", "0.37", "0.46")),
    "B": (("0.82", "0.73", "0.87", "0.51", "", "0.214", "0.27"), ("0.45", "0.37", "0.44", "0.39")),
    "B+F1": (("0.87", "0.80", "0.91", "0.59"), ("0.48", "0.40", "0.47", "0.47")),
    "B+F1&F2": (
        ("0.91", "0.87", "0.97", "0.76", "", "0.447", "> 0.50"),
        ("0.53", "0.43", "0.50", "0.65"),
    ),
    "IBM fuser": (("", "", "", "", "", "0.036", "0.16"), ()),
}
COLUMNS = (
    "",
    "mean",
    "Q1",
    "median",
    "better than METIS",
    "worse than METIS",
    "minimum",
    "share > 0.97",
    "mean difference from METIS",
)


def main() -> None:
    """Print the tables as Markdown, and draw the figures if `--figures` is set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", help="the graphs to place")
    parser.add_argument(
        "--model",
        nargs="+",
        choices=CLOSED_FORMS,
        default=CLOSED_FORMS[::-1],
        help="default: both",
    )
    parser.add_argument("--jobs", type=int, help="worker processes; default: one per core")
    parser.add_argument("--figures", type=Path, help="folder for Figures 5 and 6")
    arguments = parser.parse_args()
    graphs = read_dataset(arguments.dataset)
    for model in arguments.model:
        print(f"\n`{model}`, {len(graphs)} graphs, at 1e4 tuples/s and, in brackets, at 2e4\n")
        print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
        if model == "path-average":
            for system, published in PUBLISHED.items():
                print(line(f"*{system}, published*", *published))
        results = {}
        for system, placer in PLACERS.items():
            pair = dict.fromkeys([REFERENCE, placer])
            result = compare(graphs, list(pair), SOURCE_RATES, model=model, jobs=arguments.jobs)
            figures = (measured(result, i) for i in range(len(SOURCE_RATES)))
            print(line(system, *figures), flush=True)
            results[system] = result
        if arguments.figures is not None:
            draw(results, make_folder(arguments.figures))


def measured(result: Comparison, i: int) -> Figures:
    """Return the figures of the last placer of a comparison at source rate number `i`."""
    row = result.rows[(i + 1) * len(result.placers) - 1]
    figures_ = (row.mean, row.q1, row.median, row.better_than_metis, row.worse_than_metis)
    cells = [f"{x:.3f}" for x in figures_ if x is not None]
    cells += [f"{row.min:.3f}", f"{row.share_above_0_97:.3f}"]
    if row.placer == REFERENCE:
        cells[3:5] = ["", ""]
        return tuple(cells)
    reference, reached = result.relative_throughput[i]
    low, high = interval(reached - reference)
    return (*cells, f"{low:+.3f} to {high:+.3f}")


def draw(results: Mapping[str, Comparison], folder: Path) -> None:
    """Draw Figures 5 and 6, with one panel per source rate."""
    one = results[ROWS_IN_FIGURES[0]]
    joined = Comparison(
        one.dataset,
        one.graphs,
        one.model,
        ROWS_IN_FIGURES,
        one.source_rates,
        *(
            np.stack([getattr(results[name], values)[:, -1] for name in ROWS_IN_FIGURES], axis=1)
            for values in ("relative_throughput", "devices_used", "seconds")
        ),
    )
    throughput_picture(folder / f"throughput-{one.model}.png", joined)
    devices_picture(folder / f"devices-{one.model}.png", joined)


def line(name: str, first: Figures, second: Figures) -> str:
    """Return a row of the table.

    Parameters
    ----------
    first, second
        The figures at both source rates; those at the second are in brackets.
    """
    pairs = zip_longest(first, second, [""] * (len(COLUMNS) - 1), fillvalue="")
    cells = [f"{a or '-'} ({b})" if b else a or "-" for a, b, _ in pairs]
    return f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
