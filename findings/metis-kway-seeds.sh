#!/bin/sh
# pymetis 2025.2.2 (METIS 5): the seed of k-way partitioning has no effect on small graphs, and the
# one partition that it gives can cut more than twice as much as recursive bisection.
#
# METIS coarsens a graph for a k-way partition until it has max(N / (40 log2 k), 30 k) vertices, so
# that a graph of up to some 30 vertices a part is not coarsened at all, and what the seed would
# change does not happen. Grids of unit weights, 50 seeds each.
#
# Output seen (Python 3.11, x86-64):
#   6 x 6 grid, 5 parts, k-way: 1 partition, cuts 32 to 32
#   6 x 6 grid, 5 parts, recursive: 37 partitions, cuts 18 to 20
#   10 x 10 grid, 8 parts, k-way: 1 partition, cuts 90 to 90
#   10 x 10 grid, 8 parts, recursive: 49 partitions, cuts 38 to 45
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pymetis==2025.2.2
"$folder/venv/bin/python" - <<'PYTHON'
import pymetis

SEEDS = range(50)


def grid(side: int) -> list[list[int]]:
    every = range(side)
    return [
        [
            b * side + a
            for a, b in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
            if a in every and b in every
        ]
        for y in every
        for x in every
    ]


for side, parts in ((6, 5), (10, 8)):
    lowest = {}
    for name in ("k-way", "recursive"):
        made = [
            pymetis.part_graph(
                parts,
                adjacency=grid(side),
                recursive=name == "recursive",
                options=pymetis.Options(seed=seed),
            )
            for seed in SEEDS
        ]
        cuts = [cut for cut, _ in made]
        different = {tuple(part_of) for _, part_of in made}
        count = f"{len(different)} partition" + ("" if len(different) == 1 else "s")
        print(f"{side} x {side} grid, {parts} parts, {name}: {count}, "
              f"cuts {min(cuts)} to {max(cuts)}")
        assert (len(different) == 1) == (name == "k-way"), "this has changed"
        lowest[name] = min(cuts)
    assert lowest["k-way"] > 1.5 * lowest["recursive"], "this has changed"
PYTHON
