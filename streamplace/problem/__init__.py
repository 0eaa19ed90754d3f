"""The data model: graphs, clusters, constraints, objectives, problems and placements."""

from typing import Any

from streamplace.util.moved import moved


def __getattr__(name: str) -> Any:
    return moved("problem", name)  # a module in version 0.2
