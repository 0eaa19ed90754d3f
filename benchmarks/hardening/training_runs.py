"""Runs of `train` that are stopped and taken up."""

import json
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.hardening.forks import Ended, Forks, temporaries
from benchmarks.hardening.writing import Command, Entries, done, since
from streamplace.files.training_logs import LOG, read_log
from streamplace.policy.weights import unpacked
from streamplace.training.trainer import CHECKPOINT, WRITTEN

EVERY = 2  # steps a checkpoint
LIMIT_S = 120.0
RESUME = "--resume"
FILLING = "filling"  # a folder that is none of a run's
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


def training(forks: Forks, inputs: Path, folder: Path) -> tuple[Command, str]:
    """Return `train` from the beginning, and the hash of the parameters that it ends with."""
    target = folder / "run"
    config = ("--config", str(inputs / "run.toml"))
    words = ("train", str(inputs / "few.jsonl"), *config, "--json", "-q", "-o", str(target))
    done(forks.run(*words))
    shutil.rmtree(target)  # what is done a second time takes as long as all that follow
    begin = time.time()
    ended = done(forks.run(*words))
    command = Command("train", words, target, {}, dict.fromkeys(WRITTEN), since(begin, target))
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
            words = (*command.words, RESUME)
            return replace(command, name="train --resume", words=words, old=dict(old))
    raise RuntimeError(f"train cannot be interrupted half-way: {ended.err}")


def parameter_hash(ended: Ended) -> str:
    """Return the hash of parameters that a run of `train --json` tells."""
    return str(json.loads(ended.out)["parameter_hash"])


def unfinished(command: Command, ended: Ended, before: Entries, expected: str) -> list[str]:
    """Return what is wrong with what a command has left that says it is done.

    Parameters
    ----------
    before
        What was there when it began.
    expected
        The hash of the parameters that `train` ends with.
    """
    found = command.faults()
    if not command.over():
        found.append("not all is written")
    if command.name.startswith("train"):  # its files are never the same twice; its parameters are
        found += _other_parameters(ended, expected)
    elif kept := set(command.new) - command.written_since(before):
        found.append(f"never writes {sorted(kept)}")
    if there := temporaries(command.folder):
        found.append(f"leaves {there}")
    return [f"says that it is done: {fault}" for fault in found]


def _other_parameters(ended: Ended, expected: str) -> list[str]:
    try:
        same = parameter_hash(ended) == expected
    except (ValueError, LookupError, TypeError):
        return [f"tells no parameters but {ended.out!r}"]
    return [] if same else ["other parameters"]


def steps_of(run: Path) -> tuple[int, int]:
    """Return the steps that a run has done, by its log, and those its checkpoint holds.

    The log has a step as soon as it is done; no part of it waits in the process.
    """
    saved = 0
    if (run / CHECKPOINT).exists():
        _, words = unpacked((run / CHECKPOINT).read_bytes(), str(run))
        saved = int(json.loads(words["position"])["step"])
    return max(_logged(run), default=0), saved


def _logged(run: Path) -> list[int]:
    return [int(line["step"]) for line in read_log(run)] if (run / LOG).exists() else []


def goes_on(forks: Forks, command: Command, expected: str) -> list[str]:
    """Go on to the end with a copy of a run that was stopped; return what is wrong with that.

    Parameters
    ----------
    expected
        The hash of the parameters that an uninterrupted run ends with.
    """
    run = command.target.with_name("copy")
    shutil.copytree(command.target, run, ignore=shutil.ignore_patterns(FILLING))
    words = [str(run) if word == str(command.target) else word for word in command.words]
    words = [word for word in words if word != RESUME]
    _, saved = steps_of(run)
    ended = forks.run(*words, *([RESUME] if saved else []), limit_s=LIMIT_S)
    found = []
    if ended.code:
        found.append(f"exit {ended.code}: {ended.err!r}")
    elif other := _other_parameters(ended, expected):
        found += other
    elif (logged := _logged(run)) != list(range(1, len(logged) + 1)):
        found.append(f"a log of the steps {logged}")
    elif there := temporaries(run):
        found.append(f"leaves {there}")
    shutil.rmtree(run)
    return [f"does not go on as before after step {saved}: {fault}" for fault in found]
