"""Names of traversal orders, for options and configs; `scoring.orders` computes the orders."""

from typing import Literal, TypeAlias, get_args

from streamplace.errors import UsageError
from streamplace.util.suggest import valid_choices

OrderName: TypeAlias = Literal[
    "lexico",
    "topo-lifo",
    "topo-level",
    "reversed-topo-lifo",
    "reversed-topo-level",
    "dfs-preorder",
    "dfs-postorder",
    "bfs",
    "random",
    "heaviest-operator",
    "heaviest-stream",
    "b-level",
    "by-depth",
    "by-path",
]
"""A traversal order; docs/orders.md describes each."""
ORDERS: tuple[str, ...] = get_args(OrderName)
"""The names of all orders."""


def check_order(name: str) -> None:
    """Raise a UsageError if there is no order of this name."""
    if name not in ORDERS:
        raise UsageError(f"unknown order {name!r:.80}{valid_choices(name, ORDERS)}")
