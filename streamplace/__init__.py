"""streamplace decides which device runs which operator of a stream-processing job.

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamplace.backends import Backend as Backend
    from streamplace.cluster import Cluster as Cluster
    from streamplace.cluster import Device as Device
    from streamplace.cluster import LinkOverride as LinkOverride
    from streamplace.cluster import Network as Network
    from streamplace.comparison import Comparison as Comparison
    from streamplace.constraints import Constraints as Constraints
    from streamplace.errors import StreamplaceError as StreamplaceError
    from streamplace.files import read_cluster as read_cluster
    from streamplace.files import read_dataset as read_dataset
    from streamplace.files import read_graph as read_graph
    from streamplace.files import read_placement as read_placement
    from streamplace.files import write_cluster as write_cluster
    from streamplace.files import write_dataset as write_dataset
    from streamplace.files import write_placement as write_placement
    from streamplace.generate import Recipe as Recipe
    from streamplace.graph import Operator as Operator
    from streamplace.graph import Stream as Stream
    from streamplace.graph import StreamGraph as StreamGraph
    from streamplace.grouping import Grouping as Grouping
    from streamplace.interchange import from_networkx as from_networkx
    from streamplace.interchange import to_networkx as to_networkx
    from streamplace.placement import Placement as Placement
    from streamplace.placers.base import Placer as Placer
    from streamplace.planning import Plan as Plan
    from streamplace.planning import plan as plan
    from streamplace.problem import Problem as Problem
    from streamplace.replacing import Replacement as Replacement
    from streamplace.replacing import replace as replace
    from streamplace.score import Score as Score
    from streamplace.simulating import simulate as simulate
    from streamplace.solve import Result as Result
    from streamplace.solve import place as place
    from streamplace.trials import compare as compare

_HOME = {
    "Backend": "backends",
    "Cluster": "cluster",
    "Device": "cluster",
    "LinkOverride": "cluster",
    "Network": "cluster",
    "Comparison": "comparison",
    "Constraints": "constraints",
    "StreamplaceError": "errors",
    "read_cluster": "files",
    "read_dataset": "files",
    "read_graph": "files",
    "read_placement": "files",
    "write_cluster": "files",
    "write_dataset": "files",
    "write_placement": "files",
    "Recipe": "generate",
    "Operator": "graph",
    "Stream": "graph",
    "StreamGraph": "graph",
    "Grouping": "grouping",
    "from_networkx": "interchange",
    "to_networkx": "interchange",
    "Placement": "placement",
    "Placer": "placers.base",
    "Plan": "planning",
    "plan": "planning",
    "Problem": "problem",
    "Replacement": "replacing",
    "replace": "replacing",
    "Score": "score",
    "simulate": "simulating",
    "Result": "solve",
    "place": "solve",
    "compare": "trials",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
