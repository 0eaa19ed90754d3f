"""Summary of the campaign: errors, ranks, winners, and a plot."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from benchmarks.resampling import interval
from benchmarks.testbed.campaign import RESULTS, read
from benchmarks.testbed.comparing import TIE, relation
from benchmarks.testbed.scatter import draw
from streamplace.util.arrays import Floats

CONTENDERS = ("metis", "fuser", "policy", "auto")
PICTURE = "scatter.png"
MODELS = ("closed", "engine")
OVERDRAWN = 0.05
Results = Mapping[str, Mapping[str, Mapping[str, Any]]]


def run(arguments: argparse.Namespace) -> int:
    """Print the figures as Markdown, and draw the plot."""
    path: Path = arguments.folder
    zipped = path / f"{RESULTS}.gz"
    found = by_graph(read(zipped if zipped.exists() else path / RESULTS))
    if not found:
        print(f"{path / RESULTS}: no graph has results of all placers; run the campaign first")
        return 1
    for line in report_lines(found):
        print(line)
    draw(path / PICTURE, found)
    print(f"\n{path / PICTURE}")
    return 0


def by_graph(results: Sequence[dict[str, Any]]) -> Results:
    """Return the results of complete graphs, by graph and placer."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for one in results:
        found.setdefault(one["graph"], {})[one["placer"]] = one
    most = max((len(placers) for placers in found.values()), default=0)
    return {name: placers for name, placers in found.items() if len(placers) == most}


def report_lines(found: Results) -> list[str]:
    """Return the lines of the report."""
    count = sum(map(len, found.values()))
    lines = [f"{len(found)} graphs, {count} placements", "", "| figure | closed form | engine |"]
    lines.append("|---|---|---|")
    errors = {model: differences(found, model) for model in MODELS}
    ranks = {model: taus(found, model) for model in MODELS}
    clear = {model: clear_pairs(found, model) for model in MODELS}
    wins = {model: winners(found, model) for model in MODELS}
    rows: dict[str, list[str]] = {
        "mean absolute error of relative throughput": [
            f"{np.abs(errors[m]).mean():.4f}" for m in MODELS
        ],
        "mean error (measured minus simulated)": [f"{errors[m].mean():+.4f}" for m in MODELS],
        "largest absolute error": [f"{np.abs(errors[m]).max():.3f}" for m in MODELS],
        "share within .05": [f"{(np.abs(errors[m]) <= 0.05).mean():.3f}" for m in MODELS],
        "Kendall's tau-b per graph, median": [f"{median(ranks[m]):.3f}" for m in MODELS],
        "the same, minimum": [f"{min(ranks[m]):.3f}" for m in MODELS],
        "pairs more than 5% apart in simulation, ranked the same when measured": [
            f"{clear[m][0]} of {clear[m][1]}" for m in MODELS
        ],
        f"best of {', '.join(CONTENDERS)} in simulation is the fastest measured": [
            f"{wins[m][0]} of {len(found)}" for m in MODELS
        ],
        "the same, or within 5% of it": [f"{wins[m][1]} of {len(found)}" for m in MODELS],
    }
    lines += [f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()]
    lines += ["", *against_metis(found), "", overdrawn(found)]
    return lines


def overdrawn(found: Results) -> str:
    """Return a sentence on the results in which an operator used much more CPU than its work."""
    most = [one["overdrawn"] for placers in found.values() for one in placers.values()]
    over = sum(share > OVERDRAWN for share in most)
    return (
        f"In {over} of {len(most)} placements an operator used over {OVERDRAWN:.0%} more CPU time "
        f"than its work, at most {max(most):.0%} more."
    )


def differences(found: Results, model: str) -> Floats:
    """Return measured minus simulated relative throughput, one per graph and placer."""
    each = (one for placers in found.values() for one in placers.values())
    return np.array([one["measured"] - one[model] for one in each])


def taus(found: Results, model: str) -> list[float]:
    """Return Kendall's tau-b of the placements of each graph."""
    each = []
    for placers in found.values():
        simulated = [round(one[model], 6) for one in placers.values()]
        tau = kendalltau(simulated, [one["measured"] for one in placers.values()]).statistic
        each.append(float(tau))
    return each


def clear_pairs(found: Results, model: str) -> tuple[int, int]:
    """Count the pairs that the measurement ranks as the simulation does, and all distinct pairs.

    A pair is distinct if its throughputs differ in simulation by more than a tie.
    """
    agreeing = count = 0
    for placers in found.values():
        rows = list(placers.values())
        for i, a in enumerate(rows):
            for b in rows[:i]:
                sign = relation(a[model], b[model])
                if sign != "=":
                    count += 1
                    agreeing += (a["measured"] < b["measured"]) == (sign == "<")
    return agreeing, count


def winners(found: Results, model: str) -> tuple[int, int]:
    """Count graphs whose best placer in simulation is the fastest measured, exactly or up to a tie.

    If several placers are best in simulation (to 1e-6), the slowest one in the measurement counts.
    """
    outright = near = 0
    for placers in found.values():
        rows = [placers[name] for name in CONTENDERS]
        top = max(one[model] for one in rows)
        reached = min(one["measured"] for one in rows if one[model] >= top - 1e-6)
        best = max(one["measured"] for one in rows)
        outright += reached >= best
        near += reached >= (1 - TIE) * best
    return outright, near


def against_metis(found: Results) -> list[str]:
    """Return a table of each placer's throughputs, and the measured difference from METIS."""
    lines = [
        "| placer | measured, mean | closed form | engine | measured minus METIS |",
        "|---|---|---|---|---|",
    ]
    names = next(iter(found.values())).keys()
    base = np.array([placers["metis"]["measured"] for placers in found.values()])
    for name in names:
        columns = {
            which: np.array([placers[name][which] for placers in found.values()])
            for which in ("measured", *MODELS)
        }
        low, high = interval(columns["measured"] - base)
        mean = (columns["measured"] - base).mean()
        means = " | ".join(f"{column.mean():.3f}" for column in columns.values())
        less = "" if name == "metis" else f"{mean:+.3f} ({low:+.3f} to {high:+.3f})"
        lines.append(f"| {name} | {means} | {less} |")
    return lines
