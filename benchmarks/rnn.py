"""Makespans of networks trained on one problem each, over HEFT's, beside random placements.

    python -m benchmarks.rnn --problems 10 --placers rnn,rnn:rate=0.1

The problems are the first test cases of `giph-code` with ten networks, in the order of the seed
123445. Random placements are the best of 2|V|, as in GiPH's figures, and of 400, as many as the
placer `rnn` scores. Means over problems are arithmetic; times are CPU seconds per problem.
"""

import argparse

import numpy as np

import streamplace as sp
from benchmarks.hsdag import reached
from streamplace.families import Recipe

RECIPE = "giph-code:cases=several"
SEED = 123445
EVALUATIONS = 400


def main() -> None:
    """Place the problems and print a line per placer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=10)
    parser.add_argument("--placers", default="rnn")
    options = parser.parse_args()
    placers = {name: name for name in ("heft", *options.placers.split(","))}
    placers |= {"random, 2|V|": "", f"random, {EVALUATIONS}": f"random:evaluations={EVALUATIONS}"}
    recipe = Recipe(RECIPE, options.problems, seed=SEED)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in placers}
    for number in range(options.problems):
        graph, cluster = recipe.graph(number), recipe.cluster(number)
        problem = sp.Problem(graph, cluster, objective=sp.Makespan())
        for name, placer in placers.items():
            text = placer or f"random:evaluations={2 * len(graph.names)}"
            found[name].append(reached(problem, text))
    baseline = np.array(found["heft"])[:, 0]
    print(f"{'placer':32}{'over HEFT':>12}{'CPU s':>10}")
    for name, rows in found.items():
        makespans, seconds = np.array(rows).T
        print(f"{name:32}{(makespans / baseline).mean():12.3f}{seconds.mean():10.2f}")


if __name__ == "__main__":
    main()
