"""`place`, `generate` and `compare`, over what they wrote before; and what they read."""

from pathlib import Path

from benchmarks.hardening.forks import Forks
from benchmarks.hardening.training_runs import CONFIG_TEXT
from benchmarks.hardening.writing import Command, done, measured

GRAPHS, LARGE = 60, 300  # in a dataset, operators of a graph


def make_inputs(forks: Forks, folder: Path) -> None:
    """Write what the commands read."""
    folder.mkdir(parents=True, exist_ok=True)
    small = ("generate", "layered", "--operators", "4-7")
    done(forks.run(*small, "--count", 6, "-o", folder / "few.jsonl"))
    done(forks.run(*small, "--count", 100, "-o", folder / "many.jsonl"))
    done(forks.run("generate", "dream", "--count", GRAPHS, "-o", folder / "dream.jsonl"))
    large = ("generate", "layered", "--operators", LARGE, "-o", folder / "large.json")
    done(forks.run(*large))
    (folder / "run.toml").write_text(CONFIG_TEXT)


def placing(forks: Forks, inputs: Path, folder: Path) -> Command:
    """Return `place`, over a placement that is there."""
    words = ("place", str(inputs / "large.json"), "--source-rate", "1e3", "-q", "-o")
    old, new = (("--placer", "random"), ("--placer", "greedy"))
    return measured(forks, "place", words, old, new, folder / "place" / "placement.json")


def generating(forks: Forks, inputs: Path, folder: Path, jobs: int = 1) -> Command:
    """Return `generate`, over a dataset that is there."""
    words = ("generate", "dream", "--count", str(2 * GRAPHS), "--jobs", str(jobs), "-q", "-o")
    target = folder / f"generate-{jobs}" / "graphs.jsonl.gz"
    return measured(forks, f"generate --jobs {jobs}", words, ("--seed", "1"), (), target)


def comparing(forks: Forks, inputs: Path, folder: Path, jobs: int = 1) -> Command:
    """Return `compare`, into the folder of another comparison."""
    dataset = str(inputs / ("many.jsonl" if jobs > 1 else "dream.jsonl"))
    words = ("compare", dataset, "--source-rate", "1e3", "--jobs", str(jobs), "-q", "-o")
    old, new = (("--placers", "single,random"), ("--placers", "greedy,random"))
    target = folder / f"compare-{jobs}"
    return measured(forks, f"compare --jobs {jobs}", words, old, new, target)
