"""Commands that write, what they wrote before, and whether what lies there now is whole."""

import csv
import json
import shutil
import signal
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from matplotlib.image import imread

from benchmarks.hardening.forks import Ended, Forks, temporaries
from streamplace.errors import StreamplaceError
from streamplace.files import read_dataset, read_placement
from streamplace.files.logs import LOG, read_log
from streamplace.policy.weights import unpacked
from streamplace.training.trainer import CHECKPOINT, WRITTEN

GRAPHS, LARGE = 60, 300  # in a dataset, operators of a graph
TIMED = ("compare.json", "table.csv")  # tell how long it took
EVERY = 2  # steps a checkpoint
CONFIG_TEXT = f"""
[policy]
kind = "device-scorer"
sizes = {{ hidden = 8, hops = 1 }}
[sampling]
epochs = 6
problems_per_step = 2
[run]
held_out = 1
checkpoint_every = {EVERY}
threads = 1
"""


@dataclass(frozen=True)
class Command:
    """A command that writes one file, or files into one folder.

    Parameters
    ----------
    words
        Its arguments.
    target
        The file or folder.
    old, new
        The bytes of the files by name, before it and after; none where they are not always the
        same.
    seconds
        Until its last file is written.
    before
        The arguments that made the older files.
    """

    name: str
    words: tuple[str, ...]
    target: Path
    old: dict[str, bytes | None]
    new: dict[str, bytes | None]
    seconds: float
    before: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Where its temporaries are."""
        return self.target if self.target.suffix == "" else self.target.parent

    def restore(self) -> None:
        """Put what was there before into its place, and nothing else."""
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        for name, data in self.old.items():
            if data is not None:
                (self.folder / name).write_bytes(data)

    def faults(self) -> list[str]:
        """Return what is wrong with what lies there now."""
        there = {path.name for path in self.folder.iterdir() if path.is_file()}
        there -= temporaries(self.folder)
        found = [f"{name} is lost" for name in sorted(set(self.old) - there)]
        for name in sorted(there):
            path = self.folder / name
            if path.read_bytes() in (self.old.get(name), self.new.get(name)):
                continue
            if self.new.get(name) is not None:
                found.append(f"{name} is neither as before nor as after")
            elif fault := unreadable(path):
                found.append(f"{name}: {fault}")
        return found

    def over(self) -> bool:
        """Return whether all that it writes has been written."""
        return all(
            (self.folder / name).read_bytes() == data
            for name, data in self.new.items()
            if data is not None
        )


def unreadable(path: Path) -> str:
    """Return why a file cannot be read, empty if it can."""
    try:
        _reader(path)(path)
    except (StreamplaceError, ValueError, OSError, SyntaxError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _reader(path: Path) -> Callable[[Path], object]:
    if path.name == LOG:
        return lambda path: read_log(path.parent)
    readers: dict[str, Callable[[Path], object]] = {
        ".safetensors": lambda path: unpacked(path.read_bytes(), str(path)),
        ".csv": _table,
        ".png": imread,
        ".gz": read_dataset,
        ".jsonl": read_dataset,
        ".toml": lambda path: tomllib.loads(path.read_text()),
        ".md": _lines,
        ".tex": _lines,
    }
    if path.name.startswith("placement"):
        return read_placement
    return readers.get(path.suffix, lambda path: json.loads(path.read_text()))


def _table(path: Path) -> None:
    rows = list(csv.reader(path.read_text().splitlines()))
    if len({len(row) for row in rows}) != 1 or len(rows) < 2:
        raise ValueError("is no table")
    _lines(path)


def _lines(path: Path) -> None:
    if not path.read_text().endswith("\n"):
        raise ValueError("ends within a line")


def make_inputs(forks: Forks, folder: Path) -> None:
    """Write what the commands read."""
    folder.mkdir(parents=True, exist_ok=True)
    small = ("generate", "layered", "--operators", "4-7")
    _done(forks.run(*small, "--count", 6, "-o", folder / "few.jsonl"))
    _done(forks.run(*small, "--count", 100, "-o", folder / "many.jsonl"))
    _done(forks.run("generate", "dream", "--count", GRAPHS, "-o", folder / "dream.jsonl"))
    large = ("generate", "layered", "--operators", LARGE, "-o", folder / "large.json")
    _done(forks.run(*large))
    (folder / "run.toml").write_text(CONFIG_TEXT)


def placing(forks: Forks, inputs: Path, folder: Path) -> Command:
    """Return `place`, over a placement that is there."""
    words = ("place", str(inputs / "large.json"), "--source-rate", "1e3", "-q", "-o")
    old, new = (("--placer", "random"), ("--placer", "greedy"))
    return _command(forks, "place", words, old, new, folder / "place" / "placement.json")


def generating(forks: Forks, inputs: Path, folder: Path, jobs: int = 1) -> Command:
    """Return `generate`, over a dataset that is there."""
    words = ("generate", "dream", "--count", str(2 * GRAPHS), "--jobs", str(jobs), "-q", "-o")
    target = folder / f"generate-{jobs}" / "graphs.jsonl.gz"
    return _command(forks, f"generate --jobs {jobs}", words, ("--seed", "1"), (), target)


def comparing(forks: Forks, inputs: Path, folder: Path, jobs: int = 1) -> Command:
    """Return `compare`, into the folder of another comparison."""
    dataset = str(inputs / ("many.jsonl" if jobs > 1 else "dream.jsonl"))
    words = ("compare", dataset, "--source-rate", "1e3", "--jobs", str(jobs), "-q", "-o")
    old, new = (("--placers", "single,random"), ("--placers", "greedy,random"))
    target = folder / f"compare-{jobs}"
    return _command(forks, f"compare --jobs {jobs}", words, old, new, target)


def training(forks: Forks, inputs: Path, folder: Path) -> tuple[Command, str]:
    """Return `train` from the beginning, and the hash of the parameters that it ends with."""
    target = folder / "run"
    config = ("--config", str(inputs / "run.toml"))
    words = ("train", str(inputs / "few.jsonl"), *config, "--json", "-q", "-o", str(target))
    _done(forks.run(*words))
    shutil.rmtree(target)  # what is done a second time takes as long as all that follow
    begin = time.time()
    ended = _done(forks.run(*words))
    command = Command("train", words, target, {}, dict.fromkeys(WRITTEN), _since(begin, target))
    return command, parameter_hash(ended)


def resuming(forks: Forks, command: Command) -> Command:
    """Return `train --resume` of a run that was interrupted half-way."""
    for part in (0.5, 0.4, 0.6, 0.3, 0.7):
        command.restore()
        moment = command.seconds * part
        ended = forks.run(*command.words, number=signal.SIGINT, after_s=moment)
        _, saved = steps_of(command.target)
        if ended.code and saved:
            old = {name: (command.target / name).read_bytes() for name in WRITTEN}
            words = (*command.words, "--resume")
            return replace(command, name="train --resume", words=words, old=dict(old))
    raise RuntimeError(f"train cannot be interrupted half-way: {ended.err}")


def parameter_hash(ended: Ended) -> str:
    """Return the hash of parameters that a run of `train --json` tells."""
    return str(json.loads(ended.out)["parameter_hash"])


def steps_of(run: Path) -> tuple[int, int]:
    """Return the steps that a run has done, by its log, and those its checkpoint holds."""
    log = read_log(run) if (run / LOG).exists() else []
    saved = 0
    if (run / CHECKPOINT).exists():
        _, words = unpacked((run / CHECKPOINT).read_bytes(), str(run))
        saved = int(json.loads(words["position"])["step"])
    return max((int(line["step"]) for line in log), default=0), saved


def _command(
    forks: Forks,
    name: str,
    words: tuple[str, ...],
    old: tuple[str, ...],
    new: tuple[str, ...],
    target: Path,
) -> Command:
    folder = target if target.suffix == "" else target.parent
    folder.mkdir(parents=True)
    _done(forks.run(*words, target, *old))
    before = _files(folder)
    begin = time.time()
    _done(forks.run(*words, target, *new))
    after, seconds = _files(folder), _since(begin, folder)
    steady = {name: data if name not in TIMED else None for name, data in after.items()}
    now, then = ((*words, str(target), *more) for more in (new, old))
    return Command(name, now, target, before, steady, seconds, then)


def _since(begin: float, folder: Path) -> float:
    """Return the seconds from a moment to when the last file of a folder was written."""
    return max(path.stat().st_mtime for path in folder.iterdir()) - begin


def _files(folder: Path) -> dict[str, bytes | None]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def _done(ended: Ended) -> Ended:
    if ended.code:
        raise RuntimeError(f"exit {ended.code}: {ended.err}")
    return ended
