"""The commands `place`, `generate` and `compare`, their older output, and their inputs."""

from pathlib import Path

from benchmarks.hardening.campaigns.writers.training_runs import CONFIG_TEXT
from benchmarks.hardening.campaigns.writers.writing_command import (
    WritingCommand,
    check_success,
    measured_command,
)
from benchmarks.hardening.harness.forks import Forks

GRAPHS, LARGE = 60, 300  # graphs of a dataset, operators of a graph


def write_inputs(forks: Forks, folder: Path) -> None:
    """Write the inputs of the commands."""
    folder.mkdir(parents=True, exist_ok=True)
    small = ("generate", "layered", "--operators", "4-7")
    check_success(forks.run(*small, "--count", 6, "-o", folder / "few.jsonl"))
    check_success(forks.run(*small, "--count", 100, "-o", folder / "many.jsonl"))
    check_success(forks.run("generate", "dream", "--count", GRAPHS, "-o", folder / "dream.jsonl"))
    large = ("generate", "layered", "--operators", LARGE, "-o", folder / "large.json")
    check_success(forks.run(*large))
    (folder / "run.toml").write_text(CONFIG_TEXT)


def place_command(forks: Forks, inputs: Path, folder: Path) -> WritingCommand:
    """Return `place` that overwrites a placement."""
    words = ("place", str(inputs / "large.json"), "--source-rate", "1e3", "-q", "-o")
    old, new = (("--placer", "random"), ("--placer", "greedy"))
    return measured_command(forks, "place", words, old, new, folder / "place" / "placement.json")


def generate_command(forks: Forks, inputs: Path, folder: Path, jobs: int = 1) -> WritingCommand:
    """Return `generate` that overwrites a dataset."""
    words = ("generate", "dream", "--count", str(2 * GRAPHS), "--jobs", str(jobs), "-q", "-o")
    target = folder / f"generate-{jobs}" / "graphs.jsonl.gz"
    return measured_command(forks, f"generate --jobs {jobs}", words, ("--seed", "1"), (), target)


def compare_command(forks: Forks, inputs: Path, folder: Path, jobs: int = 1) -> WritingCommand:
    """Return `compare` that overwrites the files of another comparison."""
    dataset = str(inputs / ("many.jsonl" if jobs > 1 else "dream.jsonl"))
    words = ("compare", dataset, "--source-rate", "1e3", "--jobs", str(jobs), "-q", "-o")
    old, new = (("--placers", "single,random"), ("--placers", "greedy,random"))
    target = folder / f"compare-{jobs}"
    return measured_command(forks, f"compare --jobs {jobs}", words, old, new, target)


def table_command(forks: Forks, inputs: Path, folder: Path) -> WritingCommand:
    """Return `compare` that overwrites the table of another comparison."""
    words = ("compare", str(inputs / "few.jsonl"), "--source-rate", "1e3", "--jobs", "1", "-q")
    old, new = (("--placers", "single,random"), ("--placers", "greedy,random"))
    target = folder / "table" / "table.tex"
    return measured_command(forks, "compare --table", (*words, "--table"), old, new, target)


def gantt_command(forks: Forks, inputs: Path, folder: Path) -> WritingCommand:
    """Return `simulate` that overwrites the picture of a schedule."""
    graph, placed = str(inputs / "large.json"), str(inputs / "placed.json")
    aim = ("--objective", "makespan")
    check_success(forks.run("place", graph, *aim, "--placer", "heft", "-q", "-o", placed))
    words = ("simulate", graph, placed, *aim, "-q", "--gantt")
    target = folder / "gantt" / "gantt.png"
    return measured_command(forks, "simulate --gantt", words, ("--batch", "10"), (), target)


def clusters_command(forks: Forks, folder: Path) -> WritingCommand:
    """Return `generate` that overwrites a list of clusters."""
    words = ("generate", "giph-code", "--count", "8", "-q", "-o", "-", "--clusters")
    target = folder / "generate-clusters" / "clusters.jsonl"
    return measured_command(forks, "generate --clusters", words, ("--seed", "1"), (), target)
