"""The published win counts of the study of traversal orders (KTH, on Placeto), Tables II to IV.

For each graph, the order with the lowest mean running time of ten repeats scores one win, so that
the six counts of a row sum to 32 graphs.
"""

ORDERS = (
    "lexico",
    "topo-lifo",
    "dfs-preorder",
    "reversed-topo-lifo",
    "dfs-postorder",
    "bfs",
)
"""The six published orders. The topological one is that of the library's version at the time."""
CHECKPOINTS = (10, 20, 50)
"""Sweeps after which the best placement counts; the paper numbers episodes from 0: 9, 19, 49."""
GRAPHS = 32  # of each family
FAMILIES = {"enas-cifar": "cifar10", "nmt": "nmt", "enas-ptb": "ptb"}
"""Our families by the paper's names."""

Wins = tuple[int, int, int, int, int, int]
WINS: dict[tuple[str, int], tuple[Wins, Wins, Wins]] = {
    ("enas-cifar", 3): ((1, 6, 10, 10, 4, 1), (3, 3, 7, 8, 11, 0), (5, 4, 5, 8, 8, 2)),
    ("enas-cifar", 5): ((0, 9, 6, 6, 9, 2), (0, 9, 3, 10, 8, 2), (2, 6, 6, 9, 6, 3)),
    ("enas-cifar", 8): ((0, 8, 3, 10, 11, 0), (1, 4, 2, 8, 17, 0), (0, 5, 1, 11, 15, 0)),
    ("nmt", 3): ((0, 2, 0, 22, 1, 7), (0, 0, 1, 23, 1, 7), (0, 0, 1, 24, 1, 6)),
    ("nmt", 5): ((0, 0, 1, 24, 1, 6), (0, 0, 2, 26, 0, 4), (0, 0, 0, 27, 0, 5)),
    ("nmt", 8): ((0, 0, 0, 23, 3, 6), (0, 0, 0, 24, 1, 7), (0, 0, 0, 24, 3, 5)),
    ("enas-ptb", 3): ((0, 1, 6, 1, 0, 24), (0, 1, 10, 1, 2, 18), (0, 1, 8, 5, 2, 16)),
    ("enas-ptb", 5): ((0, 0, 3, 0, 2, 27), (0, 1, 3, 2, 2, 24), (0, 1, 2, 6, 5, 18)),
    ("enas-ptb", 8): ((0, 0, 2, 1, 1, 28), (0, 0, 2, 5, 4, 21), (0, 0, 2, 13, 5, 12)),
}
"""Wins by family and number of devices: a row per checkpoint, a count per order."""
