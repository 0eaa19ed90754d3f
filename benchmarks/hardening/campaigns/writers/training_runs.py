"""Training runs that are stopped and resumed."""

import json
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.hardening.campaigns.writers.writing_command import (
    Entries,
    WritingCommand,
    check_success,
    seconds_until_written,
)
from benchmarks.hardening.harness.forks import Ended, Forks, temporaries
from streamplace.files.training_logs import CHECKPOINT, LOG, WRITTEN, read_log
from streamplace.policy.weights import unpacked

EVERY = 2  # steps between checkpoints
LIMIT_S = 120.0
RESUME = "--resume"
FILLING = "filling"  # a folder that fills a disk
CONFIG_TEXT = f"""
[policy]
kind = "device-scorer"
sizes = {{ hidden = 8, hops = 1 }}
[[stage]]
algorithm = "dagger"
epochs = 2
problems_per_step = 2
[[stage]]
algorithm = "reinforce"
epochs = 4
problems_per_step = 2
[stage.optimiser]
rate = 2e-3
[run]
held_out = 1
checkpoint_every = {EVERY}
threads = 1
"""


def train_command(forks: Forks, inputs: Path, folder: Path) -> tuple[WritingCommand, str]:
    """Return `train` from the beginning, and the hash of its final parameters."""
    target = folder / "run"
    config = ("--config", str(inputs / "run.toml"))
    words = ("train", str(inputs / "few.jsonl"), *config, "--json", "-q", "-o", str(target))
    check_success(forks.run(*words))
    shutil.rmtree(target)  # the first run is slower than all later ones
    begin = time.time()
    ended = check_success(forks.run(*words))
    command = WritingCommand(
        "train", words, target, {}, dict.fromkeys(WRITTEN), seconds_until_written(begin, target)
    )
    return command, parameter_hash(ended)


def resume_command(forks: Forks, command: WritingCommand) -> WritingCommand:
    """Interrupt a run; return `train --resume` for it."""
    for fraction in (0.5, 0.4, 0.6, 0.3, 0.7):
        command.restore()
        moment = command.seconds * fraction
        ended = forks.run(*command.words, signum=signal.SIGINT, after_s=moment)
        _, saved = steps_of(command.target)
        if ended.code and saved:
            old = {name: (command.target / name).read_bytes() for name in WRITTEN}
            words = (*command.words, RESUME)
            return replace(command, name="train --resume", words=words, old=dict(old))
    raise RuntimeError(f"cannot interrupt train between two checkpoints: {ended.err}")


def parameter_hash(ended: Ended) -> str:
    """Return the parameter hash in the output of `train --json`."""
    return str(json.loads(ended.out)["parameter_hash"])


def completion_faults(
    command: WritingCommand, ended: Ended, before: Entries, expected: str
) -> list[str]:
    """Return the faults in the files of a command that reports success.

    Parameters
    ----------
    before
        The files when the command started.
    expected
        The hash of the parameters at the end of `train`.
    """
    faults = command.faults()
    if not command.is_complete():
        faults.append("some files are not written")
    if command.name.startswith("train"):  # its files differ between runs; its parameters do not
        faults += _other_parameters(ended, expected)
    elif unwritten := set(command.new) - command.written_since(before):
        faults.append(f"never writes {sorted(unwritten)}")
    if remaining := temporaries(command.folder):
        faults.append(f"leaves {remaining}")
    return [f"reports success: {fault}" for fault in faults]


def _other_parameters(ended: Ended, expected: str) -> list[str]:
    try:
        same = parameter_hash(ended) == expected
    except (ValueError, LookupError, TypeError):
        return [f"reports no parameter hash: {ended.out!r}"]
    return [] if same else ["other parameters"]


def steps_of(run: Path) -> tuple[int, int]:
    """Return the number of steps in the log of a run, and in its checkpoint.

    The log is written without buffering, one step at a time.
    """
    saved = 0
    if (run / CHECKPOINT).exists():
        _, metadata = unpacked((run / CHECKPOINT).read_bytes(), str(run))
        saved = int(json.loads(metadata["position"])["step"])
    return max(_logged(run), default=0), saved


def _logged(run: Path) -> list[int]:
    return [int(line["step"]) for line in read_log(run)] if (run / LOG).exists() else []


def resumption_faults(forks: Forks, command: WritingCommand, expected: str) -> list[str]:
    """Finish a copy of a stopped run; return the faults.

    Parameters
    ----------
    expected
        The hash of the parameters at the end of an uninterrupted run.
    """
    run = command.target.with_name("copy")
    shutil.copytree(command.target, run, ignore=shutil.ignore_patterns(FILLING))
    words = [str(run) if word == str(command.target) else word for word in command.words]
    words = [word for word in words if word != RESUME]
    _, saved = steps_of(run)
    ended = forks.run(*words, *([RESUME] if saved else []), limit_s=LIMIT_S)
    faults = []
    if ended.code:
        faults.append(f"exit {ended.code}: {ended.err!r}")
    elif other := _other_parameters(ended, expected):
        faults += other
    elif (logged := _logged(run)) != list(range(1, len(logged) + 1)):
        faults.append(f"the log has the steps {logged}")
    elif remaining := temporaries(run):
        faults.append(f"leaves {remaining}")
    shutil.rmtree(run)
    return [f"does not resume correctly after step {saved}: {fault}" for fault in faults]
