"""Graph, cluster, constraints, objective, problem, placement."""

from typing import Any

from streamplace.util.moved import moved


def __getattr__(name: str) -> Any:
    return moved("problem", name)  # which was a module in version 0.2
