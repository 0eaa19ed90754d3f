"""Gaps between the bounds on loads and the largest utilisations of placements."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks.real_sizes.best import known
from benchmarks.real_sizes.problems import Recipe
from benchmarks.real_sizes.results import Results
from streamplace.placers.search.balance import overloaded
from streamplace.scoring.registry import throughput_evaluator
from streamplace.scoring.throughput import ceiling

BINDS = 1.02  # times what CPU work alone allows, from which links bind
MOST = 1_000  # operators


def print_gaps(files: Iterable[Path]) -> None:
    """Print the mean gaps of `auto` with 1 s where links bind, by size and network."""
    results, best = Results.of(files), known()
    gaps = dict[tuple[int, str], list[tuple[float, float, float]]]()
    for text, value in results.values["auto", "1 s"].items():
        recipe, least = Recipe.of(text), best[text].value
        if recipe.operators > MOST or least <= BINDS * results.least[text]:
            continue
        problem = recipe.problem()
        loaded = overloaded(problem)
        bounds = ceiling(loaded), throughput_evaluator(loaded).ceiling
        quick, full = (problem.source_rate / bound for bound in bounds)
        own = 1 - quick / value, 1 - full / value, 1 - full / least
        gaps.setdefault((recipe.operators, recipe.network), []).append(own)
    print("| operators, network | problems | quick bound | printed bound | the same, best known |")
    print("|---|---|---|---|---|")
    rows = [(f"{count:,}, {kind}", gaps[count, kind]) for count, kind in sorted(gaps)]
    for name, found in [*rows, ("all", [each for some in gaps.values() for each in some])]:
        means = " | ".join(f"{mean:.1%}" for mean in np.mean(found, axis=0))
        print(f"| {name} | {len(found)} | {means} |")
