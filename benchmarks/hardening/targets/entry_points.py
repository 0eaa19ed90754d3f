"""Entry points that read users' files: functions and commands."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.hardening.corpus.engine_documents import IMPORTED
from benchmarks.reference.checkpoint_parts import Parts
from benchmarks.reference.trainings import config, resumed
from streamplace.files import (
    read_cluster,
    read_clusters,
    read_constraints,
    read_dataset,
    read_graph,
    read_jobs,
    read_placement,
)
from streamplace.files.datasets import GRAPHS
from streamplace.files.summary import summary
from streamplace.files.training_logs import CHECKPOINT, read_log
from streamplace.formats.costs import Costs
from streamplace.formats.documents import read_document
from streamplace.policy.placer import PolicyPlacer
from streamplace.policy.tensor_files import summary as summary_of_policy
from streamplace.policy.weights import read_policy
from streamplace.problem.problem import Problem
from streamplace.pyg import StreamGraphs
from streamplace.pyg.dataset import read_all
from streamplace.training.config import read_config


@dataclass(frozen=True)
class EntryPoint:
    """A file, and the function or command that reads it.

    Parameters
    ----------
    file
        The path of the file, in a folder that also holds valid files.
    read
        A function that takes the path, or the arguments of a command.
    """

    name: str
    file: str
    read: Callable[[Path], object] | tuple[str, ...]


def functions() -> list[EntryPoint]:
    """Return the functions that read files; the folder run/ holds a training run."""
    entry_points = [
        EntryPoint(f"read_graph {ending}", f"bad{ending}", read_graph) for ending in GRAPHS
    ]
    entry_points += [
        EntryPoint(f"read_dataset, folder, {ending}", f"bad/graph{ending}", _folder)
        for ending in GRAPHS
    ]
    entry_points += [
        EntryPoint(f"read_job {kind}", "bad.document", partial(_job, kind)) for kind in IMPORTED
    ]
    others: dict[str, tuple[str, Callable[[Path], object]]] = {
        "read_cluster": ("bad.json", read_cluster),
        "read_clusters": ("bad.jsonl", read_clusters),
        "read_constraints": ("bad.json", read_constraints),
        "read_jobs": ("bad.json", read_jobs),
        "read_placement": ("bad.json", read_placement),
        "summary": ("bad.json", summary),
        "Costs.read, TOML": ("bad.toml", Costs.read),
        "Costs.read, CSV": ("bad.csv", Costs.read),
        "read_config, TOML": ("bad.toml", lambda path: read_config(str(path))),
        "read_config, JSON": ("bad.json", lambda path: read_config(str(path))),
        "read_log": ("bad/log.jsonl", lambda path: read_log(path.parent)),
        "read_policy": ("bad.safetensors", read_policy),
        "PolicyPlacer": ("bad.safetensors", _placed),
        "summary of a policy": ("bad.safetensors", summary_of_policy),
        "load_checkpoint": ("bad.safetensors", Parts("device-scorer").load),
        "resumed run": (f"run/{CHECKPOINT}", _resumed),
        "PyTorch Geometric, stored graphs": ("bad.safetensors", read_all),
        "PyTorch Geometric, pre_transform.pt": ("bad/processed/pre_transform.pt", _pyg),
        "PyTorch Geometric, data.pt": ("bad/processed/data.pt", _pyg),
    }
    return entry_points + [EntryPoint(name, *of) for name, of in others.items()]


def commands() -> list[EntryPoint]:
    """Return the commands that read files."""
    files = {
        "info": ("bad.json", "bad.jsonl", "bad.jsonl.gz", "bad.npz", "bad.safetensors"),
        "place": ("bad.json", "bad.npz"),
        "plan": ("bad.json",),
        "explain": ("bad.json",),
        "compare --placers greedy": ("bad.jsonl.gz", "bad.npz"),
        "simulate graph.json": ("bad.json",),
        "simulate graph.json placement.json --model engine --scene": ("bad.json",),
        "diff placement.json": ("bad.json",),
        "report -o report.html": ("bad.json",),
        "export --to csv": ("bad.json",),
        "export --to ray": ("bad.json",),
        "place graph.json --cluster": ("bad.json",),
        "plan graph.json --survive 1 --cluster": ("bad.json",),
        "place graph.json --constraints": ("bad.json",),
        "place --placer single --job-file": ("bad.json",),
        "place graph.json --start": ("bad.json",),
        "train -o new --config config.json": ("bad.jsonl", "bad.npz"),
        "train graphs.jsonl -o new --config": ("bad.toml", "bad.json"),
        **{f"import -o new.json --from {kind}": ("bad.document",) for kind in IMPORTED},
        "import document --from dot -o new.json --costs": ("bad.toml", "bad.csv"),
        "profile torch torch.nn:ReLU --input 3 -o new.json --add": ("bad.json",),
    }
    entry_points = [
        EntryPoint(f"{words} {file}", file, (*words.split(), file))
        for words, some in files.items()
        for file in some
    ]
    weights = "policy:file=bad.safetensors"
    resume = "train graphs.jsonl --config config.json -o run --resume"
    others = {
        "compare --placers greedy bad": "bad/graph.npz",
        f"place graph.json --placer {weights}": "bad.safetensors",
        f"compare graphs.jsonl --placers greedy,{weights}": "bad.safetensors",
        resume: f"run/{CHECKPOINT}",
        "curves run": "run/log.jsonl",
        "simulate bad.json placement.json": "bad.json",
    }
    return entry_points + [
        EntryPoint(words, file, tuple(words.split())) for words, file in others.items()
    ]


def _folder(path: Path) -> object:
    return read_dataset(path.parent)


def _job(kind: str, path: Path) -> object:
    return read_document(str(path), kind)


def _placed(path: Path) -> object:
    return PolicyPlacer(file=str(path))(Problem(read_graph("graph.json")), np.random.default_rng())


def _resumed(path: Path) -> None:
    with resumed(config(), path.parent):
        pass


def _pyg(path: Path) -> object:
    return StreamGraphs(path.parents[1], "graphs.jsonl")
