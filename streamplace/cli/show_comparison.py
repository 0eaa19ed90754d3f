"""The table of a comparison for people."""

from streamplace.cli.terminal import console, print_table
from streamplace.workflows.comparison import Comparison, ComparisonRow

HEADS = ("placer", "rate", "mean", "Q1", "median", "min", ">0.97", "vs metis", "devices", "ms")
LEAST_NAME = 24  # letters of a placer that are to be seen
LEFT_OUT = ("ms", "devices", "min", ">0.97", "Q1", "median", "vs metis")
"""In turn, where the terminal is too narrow for names."""


def comparison(found: Comparison) -> None:
    """Print the table of a comparison; what a narrow terminal leaves out is told."""
    out = console()
    rows = [dict(zip(HEADS, _cells(row), strict=True)) for row in found.rows]
    wanted = min(LEAST_NAME, max(map(len, found.placers)))
    heads, without = list(HEADS), []
    for head in LEFT_OUT:
        if _room(heads, rows, out.width) < wanted:
            heads.remove(head)
            without.append(head)
    title = f"relative throughput over {len(found.graphs)} graphs ({found.model})"
    out.print(title)
    print_table(out, heads, [[row[head] for head in heads] for row in rows])
    if without:
        out.print(f"no room for {', '.join(without)}; --json has all")


def _room(heads: list[str], rows: list[dict[str, str]], width: int) -> int:
    """Return how wide the placers' column can be."""
    columns = [max(len(head), *(len(row[head]) for row in rows)) for head in heads[1:]]
    return width - sum(columns) - 2 * len(columns)


def _cells(row: ComparisonRow) -> list[str]:
    against = "-"
    if row.better_than_metis is not None and row.worse_than_metis is not None:
        against = f"+{row.better_than_metis:.0%} -{row.worse_than_metis:.0%}"
    return [
        row.placer,
        "own" if row.source_rate is None else f"{row.source_rate:g}",
        *(f"{number:.3f}" for number in (row.mean, row.q1, row.median, row.min)),
        f"{row.share_above_0_97:.0%}",
        against,
        f"{row.mean_devices:.1f}",
        f"{row.seconds_per_graph * 1e3:.2f}",
    ]
