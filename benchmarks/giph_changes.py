"""Few relocations after each change of a cluster, by the shipped policy and by re-placement.

    python -m benchmarks.giph_changes --seeds 2

The clusters, their changes and the graphs are those of `streamplace study giph`. After each of 20
changes, a system makes at most three relocations besides those that are forced. The policy makes
two or 20 evaluations per operator; our re-placement makes two, 20, or 100 as the search from
scratch does, with whose makespan all are compared. Intervals of 95% are from a paired bootstrap
over graphs.
"""

import argparse
from functools import partial

from streamplace.learning.policy.weights import read_policy
from streamplace.papers.giph.placer import WEIGHTS
from streamplace.papers.giph.policy import Giph
from streamplace.papers.giph.study.adaptivity import (
    FROM_SCRATCH,
    OF_REPLACEMENT,
    System,
    adapted,
    few_moves,
    few_relocations,
)
from streamplace.papers.giph.study.adaptivity_tables import changes_of
from streamplace.papers.giph.study.registered import FULL
from streamplace.papers.studies.study import Row
from streamplace.util.threads import one_thread

LONGER = 20  # evaluations per operator
SYSTEMS: dict[str, System] = {
    "shipped policy, 2 evaluations per operator": few_relocations,
    f"shipped policy, {LONGER}": partial(few_relocations, per_operator=LONGER),
    "our re-placement, 2": few_moves,
    f"our re-placement, {LONGER}": partial(few_moves, per_operator=LONGER),
    f"our re-placement, {FROM_SCRATCH}": partial(few_moves, per_operator=FROM_SCRATCH),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--graphs", type=int, default=FULL.graphs)
    chosen = parser.parse_args()
    policy, rows = read_policy(WEIGHTS / "giph-makespan.safetensors")[0], list[Row]()
    assert isinstance(policy, Giph)
    with one_thread():
        for protocol in OF_REPLACEMENT:
            for seed in range(chosen.seeds):
                rows += adapted(policy, protocol, chosen.graphs, FULL.changes, seed, SYSTEMS)
    found = changes_of(rows)
    print(f"| relocations | {' | '.join(f'protocol of the {name}' for name in OF_REPLACEMENT)} |")
    print("|---|---|---|")
    for system in SYSTEMS:
        print(f"| {system} | {' | '.join(str(found[name][system]) for name in OF_REPLACEMENT)} |")


if __name__ == "__main__":
    main()
