#!/bin/sh
# leidenalg 0.12.0: find_partition does not obey max_comm_size. Version 0.11.0 does.
#
# The option is the largest total size of the nodes of a community, and so a capacity where
# communities are to become the groups of operators of one device. 0.12.0 accepts it, and the
# optimiser states it when asked, but communities grow beyond it. Nothing is reported.
#
# Output seen (Python 3.11, x86-64), the largest community, in 5 seeds each:
#   0.11.0, grid of 8 x 8, at most 4: 4 to 4
#   0.11.0, grid of 8 x 8, at most 8: 8 to 8
#   0.11.0, two cliques of 12, at most 4: 4 to 4
#   0.11.0, two cliques of 12, at most 8: 8 to 8
#   0.12.0, grid of 8 x 8, at most 4: 12 to 16
#   0.12.0, grid of 8 x 8, at most 8: 12 to 16
#   0.12.0, two cliques of 12, at most 4: 12 to 12
#   0.12.0, two cliques of 12, at most 8: 12 to 12
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/communities.py" <<'PYTHON'
import importlib.metadata
import itertools

import igraph
import leidenalg

version = importlib.metadata.version("leidenalg")
cliques = [
    pair for first in (0, 12) for pair in itertools.combinations(range(first, first + 12), 2)
]
graphs = {
    "grid of 8 x 8": igraph.Graph.Lattice([8, 8], circular=False),
    "two cliques of 12": igraph.Graph(24, [*cliques, (0, 12)]),
}
for (name, graph), limit in itertools.product(graphs.items(), (4, 8)):
    partitions = [
        leidenalg.find_partition(
            graph, leidenalg.ModularityVertexPartition, max_comm_size=limit, seed=seed
        )
        for seed in range(5)
    ]
    largest = [max(partition.sizes()) for partition in partitions]
    print(f"{version}, {name}, at most {limit}: {min(largest)} to {max(largest)}")
    obeyed = max(largest) <= limit
    assert obeyed == (version == "0.11.0"), "this has changed"
PYTHON
for version in 0.11.0 0.12.0; do
    python3 -m venv "$folder/venv-$version"
    "$folder/venv-$version/bin/pip" install -q leidenalg==$version igraph==1.0.0
    "$folder/venv-$version/bin/python" "$folder/communities.py"
done
