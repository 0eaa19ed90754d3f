"""The results as a page of Markdown."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

OURS, KERNEL, ROUND_ROBIN = "streamplace", "kernel", "round-robin"
WAYS = (OURS, KERNEL, ROUND_ROBIN)
TABLE = "RESULTS.md"


def page(rows: Sequence[Mapping[str, Any]], cores: int) -> str:
    """Return the page of results, one row of which is a run."""
    rates: dict[tuple[str, str], list[float]] = {}
    for row in sorted(rows, key=lambda row: int(row["repeat"])):
        rates.setdefault((row["flowgraph"], row["way"]), []).append(float(row["rate"]))
    names = sorted({name for name, _ in rates})
    others = WAYS[1:]
    lines = [
        "# Pinned blocks of GNU Radio beside the kernel's scheduler",
        "",
        "    make gnuradio-loop",
        "",
        f"On {cores} cores. Commits {', '.join(sorted({str(row['commit']) for row in rows}))}.",
        "",
        f"| flowgraph | {' | '.join(WAYS)} | {' | '.join(f'÷ {each}' for each in others)} |",
        f"| --- |{' ---: |' * (len(WAYS) + len(others))}",
    ]
    for name in names:
        cells = [f"{median(rates[name, way]):,.0f}" for way in WAYS]
        for way in others:
            pairs = zip(rates[name, OURS], rates[name, way], strict=True)
            cells.append(f"{median(ours / other for ours, other in pairs):.3f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", "Items/s of the source and ratios, medians of the runs.", ""])
