#!/bin/sh
# pymetis 2025.2.2 (METIS 5): a k-way partition of a small graph leaves parts empty, while others
# have several vertices; recursive bisection of the same graph fills them all.
#
# A path of 12 vertices can be divided into 8 parts of one or two vertices, and a star of 9 vertices
# into 4 parts of two or three. k-way uses half of the parts, so that half of the devices get no
# work, and its largest part is above the imbalance of 1.03 that METIS states for k-way.
#
# Output seen (Python 3.11, x86-64):
#   path of 12 vertices, 8 parts, k-way: sizes 0 0 0 0 3 3 3 3
#   path of 12 vertices, 8 parts, recursive: sizes 1 1 1 1 2 2 2 2
#   star of 9 vertices, 4 parts, k-way: sizes 0 0 4 5
#   star of 9 vertices, 4 parts, recursive: sizes 2 2 2 3
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pymetis==2025.2.2
"$folder/venv/bin/python" - <<'PYTHON'
import pymetis

path = [[v for v in (u - 1, u + 1) if 0 <= v < 12] for u in range(12)]
star = [list(range(1, 9)), *([0] for _ in range(8))]
for name, graph, parts in (("path", path, 8), ("star", star, 4)):
    for method in ("k-way", "recursive"):
        _, part_of = pymetis.part_graph(
            parts, adjacency=graph, recursive=method == "recursive"
        )
        sizes = sorted(part_of.count(part) for part in range(parts))
        print(f"{name} of {len(graph)} vertices, {parts} parts, {method}: sizes", *sizes)
        assert (sizes[0] == 0) == (method == "k-way"), "this has changed"
PYTHON
