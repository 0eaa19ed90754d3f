"""Summary of the campaign: errors, ranks, winners, and a plot."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from benchmarks.result_lines import read
from benchmarks.testbed.campaign import RESULTS
from benchmarks.testbed.comparing import TIE, relation
from benchmarks.testbed.scatter import draw
from streamplace.util.arrays import Floats
from streamplace.util.effect import mean_intervals

CONTENDERS = ("metis", "fuser", "policy", "auto")
PICTURE = "scatter.png"
MODELS = ("closed", "engine")
OVERDRAWN = 0.05  # CPU time beyond an operator's work, as a share of the work
Results = Mapping[str, Mapping[str, Mapping[str, Any]]]


def run(arguments: argparse.Namespace) -> int:
    """Print the figures as Markdown, and draw the plot."""
    path: Path = arguments.folder
    zipped = path / f"{RESULTS}.gz"
    results = by_graph(read(zipped if zipped.exists() else path / RESULTS))
    if not results:
        print(f"{path / RESULTS}: no graph has results of all placers; run the campaign first")
        return 1
    for line in report_lines(results):
        print(line)
    draw(path / PICTURE, results)
    print(f"\n{path / PICTURE}")
    return 0


def by_graph(results: Sequence[dict[str, Any]]) -> Results:
    """Return the results of complete graphs, by graph and placer."""
    graphs: dict[str, dict[str, Mapping[str, Any]]] = {}
    for one in results:
        graphs.setdefault(one["graph"], {})[one["placer"]] = one
    complete = max((len(placers) for placers in graphs.values()), default=0)
    return {name: placers for name, placers in graphs.items() if len(placers) == complete}


def report_lines(results: Results) -> list[str]:
    """Return the lines of the report."""
    count = sum(map(len, results.values()))
    lines = [f"{len(results)} graphs, {count} placements", "", "| figure | closed form | engine |"]
    lines.append("|---|---|---|")
    errors = {model: differences(results, model) for model in MODELS}
    ranks = {model: taus(results, model) for model in MODELS}
    clear = {model: clear_pairs(results, model) for model in MODELS}
    wins = {model: winners(results, model) for model in MODELS}
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
            f"{wins[m][0]} of {len(results)}" for m in MODELS
        ],
        "it is the fastest, or within 5% of the fastest": [
            f"{wins[m][1]} of {len(results)}" for m in MODELS
        ],
    }
    lines += [f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()]
    lines += ["", *against_metis(results), "", overdrawn(results)]
    return lines


def overdrawn(results: Results) -> str:
    """Return a sentence on the results in which an operator used much more CPU than its work."""
    shares = [one["overdrawn"] for placers in results.values() for one in placers.values()]
    over = sum(share > OVERDRAWN for share in shares)
    return (
        f"In {over} of {len(shares)} placements an operator used over {OVERDRAWN:.0%} more CPU "
        f"time than its work, at most {max(shares):.0%} more."
    )


def differences(results: Results, model: str) -> Floats:
    """Return measured minus simulated relative throughput, one per graph and placer."""
    each = (one for placers in results.values() for one in placers.values())
    return np.array([one["measured"] - one[model] for one in each])


def taus(results: Results, model: str) -> list[float]:
    """Return Kendall's tau-b of the placements of each graph."""
    each = []
    for placers in results.values():
        simulated = [round(one[model], 6) for one in placers.values()]
        tau = kendalltau(simulated, [one["measured"] for one in placers.values()]).statistic
        each.append(float(tau))
    return each


def clear_pairs(results: Results, model: str) -> tuple[int, int]:
    """Count the pairs that the measurement ranks as the simulation does, and all distinct pairs.

    A pair is distinct if its throughputs differ in simulation by more than a tie.
    """
    agreeing = count = 0
    for placers in results.values():
        rows = list(placers.values())
        for i, a in enumerate(rows):
            for b in rows[:i]:
                sign = relation(a[model], b[model])
                if sign != "=":
                    count += 1
                    agreeing += (a["measured"] < b["measured"]) == (sign == "<")
    return agreeing, count


def winners(results: Results, model: str) -> tuple[int, int]:
    """Count graphs whose best placer in simulation is the fastest measured, exactly or up to a tie.

    If several placers are best in simulation (to 1e-6), the slowest one in the measurement counts.
    """
    outright = near = 0
    for placers in results.values():
        rows = [placers[name] for name in CONTENDERS]
        top = max(one[model] for one in rows)
        reached = min(one["measured"] for one in rows if one[model] >= top - 1e-6)
        best = max(one["measured"] for one in rows)
        outright += reached >= best
        near += reached >= (1 - TIE) * best
    return outright, near


def against_metis(results: Results) -> list[str]:
    """Return a table of each placer's throughputs, and the measured difference from METIS."""
    lines = [
        "| placer | measured, mean | closed form | engine | measured minus METIS |",
        "|---|---|---|---|---|",
    ]
    names = next(iter(results.values())).keys()
    base = np.array([placers["metis"]["measured"] for placers in results.values()])
    for name in names:
        columns = {
            which: np.array([placers[name][which] for placers in results.values()])
            for which in ("measured", *MODELS)
        }
        low, high = mean_intervals((columns["measured"] - base)[None])[0]
        mean = (columns["measured"] - base).mean()
        means = " | ".join(f"{column.mean():.3f}" for column in columns.values())
        difference = "" if name == "metis" else f"{mean:+.3f} ({low:+.3f} to {high:+.3f})"
        lines.append(f"| {name} | {means} | {difference} |")
    return lines
