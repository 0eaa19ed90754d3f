"""Operator placement for stream processing.

The public names are loaded when they are first used, so that importing the package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from streamplace.util.moved import install, moved

if TYPE_CHECKING:
    from streamplace.errors import StreamplaceError as StreamplaceError
    from streamplace.execution.backends import Backend as Backend
    from streamplace.families import Recipe as Recipe
    from streamplace.files import read_cluster as read_cluster
    from streamplace.files import read_clusters as read_clusters
    from streamplace.files import read_dataset as read_dataset
    from streamplace.files import read_graph as read_graph
    from streamplace.files import read_jobs as read_jobs
    from streamplace.files import read_placement as read_placement
    from streamplace.files import write_cluster as write_cluster
    from streamplace.files import write_clusters as write_clusters
    from streamplace.files import write_dataset as write_dataset
    from streamplace.files import write_jobs as write_jobs
    from streamplace.files import write_placement as write_placement
    from streamplace.placers.base import Placer as Placer
    from streamplace.problem.cluster import Cluster as Cluster
    from streamplace.problem.cluster import Device as Device
    from streamplace.problem.cluster import LinkOverride as LinkOverride
    from streamplace.problem.cluster import Network as Network
    from streamplace.problem.cluster import Uplink as Uplink
    from streamplace.problem.constraints import Constraints as Constraints
    from streamplace.problem.graph import Operator as Operator
    from streamplace.problem.graph import Stream as Stream
    from streamplace.problem.graph import StreamGraph as StreamGraph
    from streamplace.problem.grouping import Grouping as Grouping
    from streamplace.problem.jobs import Job as Job
    from streamplace.problem.jobs import Jobs as Jobs
    from streamplace.problem.makespan import Makespan as Makespan
    from streamplace.problem.networkx_interop import from_networkx as from_networkx
    from streamplace.problem.networkx_interop import to_networkx as to_networkx
    from streamplace.problem.objective import Throughput as Throughput
    from streamplace.problem.placement import Placement as Placement
    from streamplace.problem.problem import Problem as Problem
    from streamplace.scoring.engine import EngineScore as EngineScore
    from streamplace.scoring.makespan_score import MakespanScore as MakespanScore
    from streamplace.scoring.objective_evaluator import ObjectiveEvaluator as ObjectiveEvaluator
    from streamplace.scoring.orders import traversal_order as traversal_order
    from streamplace.scoring.score import Score as Score
    from streamplace.scoring.score import ThroughputScore as ThroughputScore
    from streamplace.scoring.total_cost import TotalCost as TotalCost
    from streamplace.scoring.tuples import TupleScore as TupleScore
    from streamplace.workflows.capacity_plan import Plan as Plan
    from streamplace.workflows.compare import compare as compare
    from streamplace.workflows.comparison import Comparison as Comparison
    from streamplace.workflows.confidence import Confidence as Confidence
    from streamplace.workflows.jobs_result import JobsResult as JobsResult
    from streamplace.workflows.latency.limit import LatencyAnswer as LatencyAnswer
    from streamplace.workflows.latency.limit import LatencyLimit as LatencyLimit
    from streamplace.workflows.makespan_comparison import MakespanComparison as MakespanComparison
    from streamplace.workflows.migrate import Migration as Migration
    from streamplace.workflows.migrate import migrate as migrate
    from streamplace.workflows.place import place as place
    from streamplace.workflows.place_jobs import place_jobs as place_jobs
    from streamplace.workflows.plan import plan as plan
    from streamplace.workflows.result import MakespanResult as MakespanResult
    from streamplace.workflows.result import Result as Result
    from streamplace.workflows.simulate import simulate as simulate
    from streamplace.workflows.size import size as size
    from streamplace.workflows.sizing.jobs import JobsSize as JobsSize
    from streamplace.workflows.sizing.jobs import size_jobs as size_jobs
    from streamplace.workflows.sizing.result import SizeResult as SizeResult

_HOME = {
    "Backend": "execution.backends",
    "Cluster": "problem.cluster",
    "compare": "workflows.compare",
    "Comparison": "workflows.comparison",
    "Confidence": "workflows.confidence",
    "Constraints": "problem.constraints",
    "Device": "problem.cluster",
    "EngineScore": "scoring.engine",
    "from_networkx": "problem.networkx_interop",
    "Grouping": "problem.grouping",
    "Job": "problem.jobs",
    "Jobs": "problem.jobs",
    "JobsResult": "workflows.jobs_result",
    "JobsSize": "workflows.sizing.jobs",
    "LatencyAnswer": "workflows.latency.limit",
    "LatencyLimit": "workflows.latency.limit",
    "LinkOverride": "problem.cluster",
    "Makespan": "problem.makespan",
    "MakespanComparison": "workflows.makespan_comparison",
    "MakespanResult": "workflows.result",
    "MakespanScore": "scoring.makespan_score",
    "migrate": "workflows.migrate",
    "Migration": "workflows.migrate",
    "Network": "problem.cluster",
    "ObjectiveEvaluator": "scoring.objective_evaluator",
    "Operator": "problem.graph",
    "place": "workflows.place",
    "place_jobs": "workflows.place_jobs",
    "Placement": "problem.placement",
    "Placer": "placers.base",
    "Plan": "workflows.capacity_plan",
    "plan": "workflows.plan",
    "Problem": "problem.problem",
    "read_cluster": "files",
    "read_clusters": "files",
    "read_dataset": "files",
    "read_graph": "files",
    "read_jobs": "files",
    "read_placement": "files",
    "Recipe": "families",
    "Result": "workflows.result",
    "Score": "scoring.score",
    "simulate": "workflows.simulate",
    "size": "workflows.size",
    "size_jobs": "workflows.sizing.jobs",
    "SizeResult": "workflows.sizing.result",
    "Stream": "problem.graph",
    "StreamGraph": "problem.graph",
    "StreamplaceError": "errors",
    "Throughput": "problem.objective",
    "ThroughputScore": "scoring.score",
    "to_networkx": "problem.networkx_interop",
    "TotalCost": "scoring.total_cost",
    "traversal_order": "scoring.orders",
    "TupleScore": "scoring.tuples",
    "Uplink": "problem.cluster",
    "write_cluster": "files",
    "write_clusters": "files",
    "write_dataset": "files",
    "write_jobs": "files",
    "write_placement": "files",
}
"""Public name -> the module that defines it, below ``streamplace``."""

_RENAMED = ("Replacement", "replace")
"""Public names of version 0.2."""

__all__ = list(_HOME)

install()


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        return moved("", name)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
