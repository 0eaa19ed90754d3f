"""Operator placement for stream processing.

The public names are loaded when they are first used, so that importing the package is quick.
"""

from typing import TYPE_CHECKING

from streamplace.util.lazy import lazily

if TYPE_CHECKING:
    from streamplace.capacity.plan.plan import plan as plan
    from streamplace.capacity.size import size as size
    from streamplace.errors import StreamplaceError as StreamplaceError
    from streamplace.families import Recipe as Recipe
    from streamplace.families.generation import generate as generate
    from streamplace.files import read_cluster as read_cluster
    from streamplace.files import read_clusters as read_clusters
    from streamplace.files import read_dataset as read_dataset
    from streamplace.files import read_graph as read_graph
    from streamplace.files import read_placement as read_placement
    from streamplace.files import write_cluster as write_cluster
    from streamplace.files import write_clusters as write_clusters
    from streamplace.files import write_dataset as write_dataset
    from streamplace.files import write_placement as write_placement
    from streamplace.jobs.files import read_jobs as read_jobs
    from streamplace.jobs.files import write_jobs as write_jobs
    from streamplace.jobs.jobs import Job as Job
    from streamplace.jobs.jobs import Jobs as Jobs
    from streamplace.jobs.place import place_jobs as place_jobs
    from streamplace.jobs.size import size_jobs as size_jobs
    from streamplace.learning.training import train as train
    from streamplace.problem.cluster import Cluster as Cluster
    from streamplace.problem.cluster import Device as Device
    from streamplace.problem.cluster import LinkOverride as LinkOverride
    from streamplace.problem.cluster import Network as Network
    from streamplace.problem.cluster import Uplink as Uplink
    from streamplace.problem.constraints import Constraints as Constraints
    from streamplace.problem.graph import Operator as Operator
    from streamplace.problem.graph import Stream as Stream
    from streamplace.problem.graph import StreamGraph as StreamGraph
    from streamplace.problem.makespan import Makespan as Makespan
    from streamplace.problem.networkx_interop import from_networkx as from_networkx
    from streamplace.problem.networkx_interop import to_networkx as to_networkx
    from streamplace.problem.objective import Throughput as Throughput
    from streamplace.problem.placement import Placement as Placement
    from streamplace.problem.problem import Problem as Problem
    from streamplace.problem.steps import source as source
    from streamplace.reports.report import report as report
    from streamplace.workflows.compare import compare as compare
    from streamplace.workflows.diff import diff as diff
    from streamplace.workflows.explain import explain as explain
    from streamplace.workflows.export import export as export
    from streamplace.workflows.migrate import migrate as migrate
    from streamplace.workflows.place import place as place
    from streamplace.workflows.read_job import read_job as read_job
    from streamplace.workflows.simulate import simulate as simulate

_HOME = {
    "Cluster": "problem.cluster",
    "compare": "workflows.compare",
    "Constraints": "problem.constraints",
    "Device": "problem.cluster",
    "diff": "workflows.diff",
    "explain": "workflows.explain",
    "export": "workflows.export",
    "from_networkx": "problem.networkx_interop",
    "generate": "families.generation",
    "Job": "jobs.jobs",
    "Jobs": "jobs.jobs",
    "LinkOverride": "problem.cluster",
    "Makespan": "problem.makespan",
    "migrate": "workflows.migrate",
    "Network": "problem.cluster",
    "Operator": "problem.graph",
    "place": "workflows.place",
    "place_jobs": "jobs.place",
    "Placement": "problem.placement",
    "plan": "capacity.plan.plan",
    "Problem": "problem.problem",
    "read_cluster": "files",
    "read_clusters": "files",
    "read_dataset": "files",
    "read_graph": "files",
    "read_job": "workflows.read_job",
    "read_jobs": "jobs.files",
    "read_placement": "files",
    "Recipe": "families",
    "report": "reports.report",
    "simulate": "workflows.simulate",
    "size": "capacity.size",
    "size_jobs": "jobs.size",
    "source": "problem.steps",
    "Stream": "problem.graph",
    "StreamGraph": "problem.graph",
    "StreamplaceError": "errors",
    "Throughput": "problem.objective",
    "to_networkx": "problem.networkx_interop",
    "train": "learning.training",
    "Uplink": "problem.cluster",
    "write_cluster": "files",
    "write_clusters": "files",
    "write_dataset": "files",
    "write_jobs": "jobs.files",
    "write_placement": "files",
}
"""Public name -> the module that defines it, below ``streamplace``."""

__all__ = list(_HOME)
__getattr__, __dir__ = lazily(__name__, _HOME)
