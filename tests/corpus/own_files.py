"""Valid files in streamplace's own formats, as bytes from its own writers."""

import gzip
import io
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from streamplace.files import read_graph, write_placement
from streamplace.files.clusters import cluster_to
from streamplace.files.graphs import graph_from, graph_to
from streamplace.files.npz import write_columns
from streamplace.files.placements import as_csv, placement_to
from streamplace.learning.policy.registry import PolicySection, policy_section
from streamplace.problem.cluster import Cluster
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from tests.corpus.document import Document
from tests.corpus.documents import (
    CEPSIM,
    CLUSTER,
    COUNTS_GRAPH,
    DATAFLOW_CLUSTER,
    DATAFLOW_GRAPH,
    DREAM,
    GRAPH,
)
from tests.corpus.line_graph import line_graph

PLAIN = json.dumps(graph_to(line_graph()))
SCENE: dict[str, Any] = {
    "format": "streamplace-scene",
    "version": 1,
    "sources": {"a": {"at_s": [0, 2.5], "factor": [1.0, 2.0], "linear": True, "every_s": 5.0}},
    "windows": {"b": {"size_s": 2.0, "advance_s": 1.0, "ratio": 0.5}},
    "speeds": [{"device": "d1", "from_s": 3.0, "factor": 0.5}],
}
JOBS: dict[str, Any] = {
    "format": "streamplace-jobs",
    "version": 1,
    "jobs": [
        {"name": "first", "graph": json.loads(PLAIN), "source_rate": 100.0, "priority": 1},
        {
            "name": "second",
            "graph": json.loads(PLAIN),
            "source_rate": 50.0,
            "weight": 2.0,
            "min_throughput": 1.0,
        },
    ],
}
CONFIG = """\
[policy]
kind = "device-scorer"
sizes = { hidden = 8, hops = 1, orders = [0, "dfs-postorder"] }

[[problems]]
operators = [1, 100]
devices = ["2x2500", "1x4000,2x1500"]
networks = ["pair", "nic"]
bandwidth_mbps = [10.0, 1000.0]
source_rates = [100.0]

[[stage]]
algorithm = "imitation"
teacher = "greedy"
epochs = 1

[[stage]]
algorithm = "dagger"
epochs = 1
exploration = 0.1

[[stage]]
algorithm = "reinforce"
epochs = 1
samples = 3

[stage.memory]
size = 2
threshold = 0.0

[run]
threads = 1
"""
CONFIG_VALUE: dict[str, Any] = {
    "policy": {
        "kind": "encoder-decoder",
        "sizes": {"length": 8, "hops": 1, "devices": 2, "order": "bfs"},
    },
    "problems": [{"operators": [1, 100], "devices": ["2x2500"], "share": 1.0}],
    "stage": [
        {
            "algorithm": "reinforce",
            "epochs": 1,
            "samples": 3,
            "random_samples": 1.0,
            "entropy": 0.01,
            "memory": {"size": 2, "threshold": 0.5, "samples": 1, "imitate": 0.1},
            "optimiser": {"rate": 0.001, "final_rate": 1e-5, "warm_up": 2},
        }
    ],
    "run": {"seed": 1, "checkpoint_every": 1, "threads": 1},
}
COSTS_TOML = """\
source_rate = 1e4
[default]
payload_bytes = 100
[operators.split]
instructions = 20000
instructions_se = 900
selectivity = 0.5
selectivity_se = 0.1
[operators."by-word"]
instructions = 1e3
memory_bytes = 1e6
resources = {gpu = 1}
[streams]
"split->filter" = 0.25
[source_shares]
lines = 1.0
"""
COSTS_CSV = """\
operator,instructions,payload_bytes,selectivity,payload_bytes_se,resources.gpu
lines,100,250,,20,
split,20000,,0.5,,0.25
"by-word",,8,1,,
"""
LOG = "".join(
    json.dumps({"reward": 0.5, "loss": -0.1, "entropy": 1.5, "step": i, "epoch": 0}) + "\n"
    for i in range(1, 12)
)

FORMS = (GRAPH, DATAFLOW_GRAPH, COUNTS_GRAPH)
"""Graphs that have all fields of their format between them."""


def placement() -> Placement:
    """Return a placement of the line graph on two devices."""
    return Placement.of(Problem(line_graph(), Cluster.equal(2)), {"a": "d0", "b": "d1", "c": "d1"})


def makespan_placement() -> Placement:
    """Return a placement of the line graph for its makespan, with settings of its own."""
    objective = Makespan(batch=100, order="b-level", barrier=True)
    problem = Problem(line_graph(), Cluster.equal(2), objective=objective)
    return Placement.of(problem, {"a": "d0", "b": "d1", "c": "d1"})


@cache
def files() -> dict[str, tuple[Document, ...]]:
    """Return reader -> valid files, without weights and checkpoints, which need torch."""
    full, lines = json.dumps(GRAPH), f"{json.dumps(GRAPH)}\n{PLAIN}\n{PLAIN}\n"
    placed = placement_to(placement(), placer="single", bound=1000.0, gap=0.5, score={"a": [1]})
    placed["confidence"] = {"asked": 0.9, "measure_better": None}
    placed["latency"] = {"limit": 0.2, "quantile": "p99", "answer": "unproven"}
    constrained = json.loads(full)["constraints"]
    clusters = f"{json.dumps(CLUSTER)}\n{json.dumps(cluster_to(Cluster.equal(2)))}\n"
    return {
        "graph": json_documents(json.loads(PLAIN), GRAPH, [GRAPH], DATAFLOW_GRAPH, COUNTS_GRAPH),
        "dataset": (
            Document("file.jsonl", lines.encode()),
            Document("file.jsonl.gz", gzip.compress(lines.encode(), mtime=0)),
        ),
        "columns": tuple(Document("file.npz", columns(value)) for value in FORMS),
        "dream-graph": json_documents(DREAM),
        "cluster": json_documents(CLUSTER, cluster_to(Cluster.equal(2)), DATAFLOW_CLUSTER),
        "clusters": (
            Document("file.jsonl", clusters.encode()),
            Document("file.jsonl.gz", gzip.compress(clusters.encode(), mtime=0)),
            Document("file.jsonl", 2 * f"{json.dumps(cluster_to(Cluster.equal(2)))}\n".encode()),
        ),
        "constraints": json_documents(constrained, {"colocate": [["a", "b"]], "pins": {"c": "d1"}}),
        "placement": json_documents(
            placed, placement_to(makespan_placement(), placer="single"), _beside_its_graph()
        ),
        "placement-columns": (Document("file.npz", placement_columns()),),
        "assignment": (
            Document("file.csv", as_csv(placement()).encode()),
            *json_documents({"assignment": dict(placement().assignment)}),
        ),
        "cepsim-placement": json_documents(CEPSIM),
        "scene": json_documents(SCENE),
        "jobs": json_documents(JOBS, {"jobs": JOBS["jobs"][:1]}),
        "config": (
            Document("file.toml", CONFIG.encode()),
            Document("file.json", json.dumps(CONFIG_VALUE).encode()),
        ),
        "log": (Document("log.jsonl", LOG.encode()),),
        "costs": (
            Document("file.toml", COSTS_TOML.encode()),
            Document("file.csv", COSTS_CSV.encode()),
        ),
    }


def _beside_its_graph() -> dict[str, Any]:
    """Return a placement that has the path of its graph."""
    graph = read_graph("dataset:real/storm-word-count-executors.json")
    placed = Placement(Problem(graph, Cluster.equal(1)), [0] * len(graph.names))
    value = placement_to(placed, placer="single")
    own = {"graph": {"path": graph.file, "sha256": value["problem"].pop("graph_sha256")}}
    return {**value, "problem": {**value["problem"], **own}}


def placement_columns() -> bytes:
    """Return a placement as the bytes of an .npz file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "file.npz")
        write_placement(path, placement(), placer="single", bound=1000.0, gap=0.5)
        return path.read_bytes()


def columns(value: dict[str, Any]) -> bytes:
    """Return a graph, which is a JSON value, as the bytes of an .npz file."""
    file = io.BytesIO()
    write_columns(graph_from(value, "good"), file)
    return file.getvalue()


def weights() -> bytes:
    """Return the weights file of a tiny network."""
    import torch  # noqa: PLC0415 - heavy

    from streamplace.learning.policy.registry import make_policy  # noqa: PLC0415
    from streamplace.learning.policy.weights import pack_policy  # noqa: PLC0415

    torch.manual_seed(0)
    section = tiny()
    return pack_policy(make_policy(section), section, {"dataset": "", "epoch": 1})


def tiny() -> PolicySection:
    """Return the kind and sizes of a tiny network."""
    return policy_section({"kind": "device-scorer", "sizes": {"hidden": 4, "hops": 1}})


def json_documents(*values: Any) -> tuple[Document, ...]:
    """Return values as JSON files."""
    return tuple(Document("file.json", json.dumps(value).encode()) for value in values)
