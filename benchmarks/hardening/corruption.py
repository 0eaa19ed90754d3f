"""Corruption: what was damaged is not loaded, and what was meant to do harm does nothing."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.hardening import impostors, loaders, malice, warm
from benchmarks.hardening.damage import (
    OTHERS,
    Damage,
    Damaged,
    damaged,
    flipped_bits,
    truncations,
)
from benchmarks.hardening.forks import Ended, Forks
from benchmarks.hardening.refusing import LINES, LOADED, TRACEBACK, Refusals, Subject, refuse
from benchmarks.hardening.rows import Row
from benchmarks.hardening.trained import KINDS, Trained
from streamplace.training.trainer import CHECKPOINT, CONFIG, POLICY

FLIPS, CUTS, OTHER, COMMANDS = 5000, 1000, 200, 25  # of each file


def run(share: float = 1.0, seed: int = 0) -> Iterator[Row]:
    """Damage checkpoints and weights, put others in their place, and lay traps."""
    with TemporaryDirectory(prefix="streamplace-corruption-") as name:
        made = Trained.made(Path(name))
        yield from damage(made, share, seed)
        yield instead(made)
        with Forks(modules=warm.READING_WEIGHTS) as forks:
            yield through_commands(made, forks, share, seed)
            yield from malice.run(made, forks, share)
    yield loaders.row()


def damage(made: Trained, share: float, seed: int) -> Iterator[Row]:
    """Damage each file in every way."""
    for what, subjects in (("checkpoints", made.checkpoints()), ("weights", made.weights())):
        rng = np.random.default_rng([seed, len(what)])
        for how, ways, count in (
            ("single flipped bits", {"": flipped_bits}, FLIPS),
            ("truncations", {"": truncations}, CUTS),
            ("other damage", OTHERS, OTHER),
        ):
            yield harmed(f"{how} in {what}", subjects, ways, _part(count, share), rng, made.folder)


def harmed(
    what: str,
    subjects: Sequence[Subject],
    ways: Mapping[str, Damage],
    count: int,
    rng: np.random.Generator,
    folder: Path,
) -> Row:
    """Damage each subject so many times in each way."""
    refusals = Refusals(what)
    for subject in subjects:
        every = chain.from_iterable(damaged(way, subject.data, count, rng) for way in ways.values())
        refuse(refusals, subject, every, folder)
    return refusals.row()


def instead(made: Trained) -> Row:
    """Put sound files of others in place of checkpoints and weights."""
    refusals = Refusals("sound files of another kind or run under their name")
    for kind in KINDS:
        for subject, files in (
            (impostors.checkpoint_of_run(kind, made), impostors.instead_of_checkpoint(kind, made)),
            (impostors.weights_of(kind, made), impostors.instead_of_weights(kind, made)),
        ):
            refuse(refusals, subject, files, made.folder)
    return refusals.row()


def through_commands(
    made: Trained, forks: Forks, share: float, seed: int, kinds: Sequence[str] = KINDS
) -> Row:
    """Let commands read damaged files: exit code 2, one line, and no file of the run touched."""
    refusals, count = Refusals("damaged files given to commands"), _part(COMMANDS, share)
    rng = np.random.default_rng(seed)
    graphs, graph = made.folder / "graphs.jsonl", made.folder / "graph.json"
    for run in map(made.run, kinds):
        policy, checkpoint = run / POLICY, run / CHECKPOINT
        resume = ("train", graphs, "--config", run / CONFIG, "-o", run, "--resume")
        for name, file, command in (
            ("train --resume", checkpoint, resume),
            ("info", checkpoint, ("info", checkpoint)),
            ("place", policy, ("place", graph, "--placer", f"policy:file={policy}")),
            ("info", policy, ("info", policy)),
        ):
            good = file.read_bytes()
            for one in _any_damage(good, count, rng):
                file.write_bytes(one.data)
                before = _bytes_in(run)
                refusals.add(name, one.how, *_told(forks.run(*command)))
                refusals.look(name, one.how, before, _bytes_in(run))
            file.write_bytes(good)
    return refusals.row()


def _any_damage(data: bytes, count: int, rng: np.random.Generator) -> Iterator[Damaged]:
    ways = (flipped_bits, truncations, *OTHERS.values())
    for number in range(count):
        yield from damaged(ways[number % len(ways)], data, 1, rng)


def _told(ended: Ended) -> tuple[str | None, str]:
    """Return what is wrong with how a command has refused a file."""
    if ended.code == 0:
        return LOADED, ended.out
    if ended.code != 2 or "Traceback" in ended.err:
        return TRACEBACK, ended.err
    one_line = ended.err.count("\n") == 1 and ended.err.startswith("streamplace: ")
    return None if one_line else LINES, ended.err


def _bytes_in(folder: Path) -> frozenset[tuple[str, bytes]]:
    return frozenset((p.name, p.read_bytes()) for p in folder.iterdir() if p.is_file())


def _part(count: int, share: float) -> int:
    return max(2, round(count * share))
