#!/bin/sh
# pymetis 2025.2.2 (METIS 5): the option `contig`, which asks for connected parts, is ignored
# without a word for up to 8 parts, and obeyed from 9 parts on.
#
# METIS knows the option for k-way partitions only. pymetis selects recursive bisection where at
# most 8 parts are asked for and the method is not, and then passes the option on, where it does
# nothing. A tree of 100 vertices in 8 connected parts has a cut of 7 edges; more means parts in
# pieces.
#
# Output seen (Python 3.11, x86-64), 20 random trees of 100 vertices:
#   8 parts: 20 of 20 trees have a part in pieces
#   9 parts: 0 of 20 trees have a part in pieces
#   8 parts, recursive=False: 0 of 20 trees have a part in pieces
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pymetis==2025.2.2
"$folder/venv/bin/python" - <<'PYTHON'
import random

import pymetis

VERTICES, TREES = 100, 20


def tree(seed: int) -> list[list[int]]:
    """Return the neighbours in a tree, where each vertex is joined to an earlier one."""
    chosen = random.Random(seed)
    neighbours: list[list[int]] = [[] for _ in range(VERTICES)]
    for v in range(1, VERTICES):
        u = chosen.randrange(v)
        neighbours[u].append(v)
        neighbours[v].append(u)
    return neighbours


for parts, settings in ((8, {}), (9, {}), (8, {"recursive": False})):
    broken = 0
    for seed in range(TREES):
        cut, part_of = pymetis.part_graph(
            parts, adjacency=tree(seed), options=pymetis.Options(contig=1), **settings
        )
        broken += cut > len(set(part_of)) - 1  # connected parts of a tree form a tree
    text = "".join(f", {name}={value}" for name, value in settings.items())
    print(f"{parts} parts{text}: {broken} of {TREES} trees have a part in pieces")
    assert broken == (TREES if parts == 8 and not settings else 0), "this has changed"
PYTHON
