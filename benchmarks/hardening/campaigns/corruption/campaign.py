"""Corruption: damaged files must not be loaded, and malicious files must do no harm."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.hardening.campaigns.corruption import impostors, malicious_files, source_scan
from benchmarks.hardening.campaigns.corruption.refusals import (
    LOADED,
    NOT_ONE_LINE,
    TRACEBACK,
    Refusals,
    count_refusals,
)
from benchmarks.hardening.harness.forks import Ended, Forks
from benchmarks.hardening.harness.rows import Row
from benchmarks.hardening.mutation.damage import (
    OTHERS,
    Damage,
    Damaged,
    damaged,
    flipped_bits,
    truncations,
)
from benchmarks.hardening.targets import warm_up
from benchmarks.hardening.targets.loadable_file import LoadableFile
from benchmarks.hardening.targets.trained_files import KINDS, READ, TrainedFiles
from streamplace.training.run import CHECKPOINT, CONFIG, POLICY

# tries per file: of flipped bits, truncations, each kind of other damage, and each command
FLIPS, CUTS, OTHER, COMMANDS = 5000, 1000, 200, 25


def run(share: float = 1.0, seed: int = 0) -> Iterator[Row]:
    """Damage checkpoints and weights, replace them by other files, and read malicious files."""
    with TemporaryDirectory(prefix="streamplace-corruption-") as name:
        trained = TrainedFiles.create(Path(name))
        yield from damage_rows(trained, share, seed)
        yield impostors_row(trained)
        with Forks(modules=warm_up.READING_WEIGHTS) as forks:
            yield commands_row(trained, forks, share, seed)
            yield from malicious_files.malicious_rows(trained, forks, share)
    yield source_scan.source_row()


def damage_rows(trained: TrainedFiles, share: float, seed: int) -> Iterator[Row]:
    """Yield one row per kind of file and of damage."""
    for what, files in (("checkpoints", trained.checkpoints()), ("weights", trained.weights())):
        rng = np.random.default_rng([seed, len(what)])  # other random numbers for each kind
        for damage, functions, count in (
            ("single flipped bits", {"": flipped_bits}, FLIPS),
            ("truncations", {"": truncations}, CUTS),
            ("other damage", OTHERS, OTHER),
        ):
            yield damage_row(
                f"{damage} in {what}", files, functions, _scaled(count, share), rng, trained.folder
            )


def damage_row(
    what: str,
    files: Sequence[LoadableFile],
    functions: Mapping[str, Damage],
    count: int,
    rng: np.random.Generator,
    folder: Path,
) -> Row:
    """Damage each file `count` times with each function; check that every result is refused.

    Parameters
    ----------
    what
        What the row is called.
    files
        Valid files.
    functions
        Functions that damage a file, by name.
    folder
        A folder for the file that is read.
    """
    refusals = Refusals(what)
    for valid in files:
        every = chain.from_iterable(
            damaged(function, valid.data, count, rng) for function in functions.values()
        )
        count_refusals(refusals, valid, every, folder)
    return refusals.row()


def impostors_row(trained: TrainedFiles) -> Row:
    """Replace checkpoints and weights by undamaged files of another kind or run."""
    refusals = Refusals("undamaged files of another kind or run")
    for kind in KINDS:
        for valid, files in (
            (
                impostors.checkpoint_of_run(kind, trained),
                impostors.checkpoint_impostors(kind, trained),
            ),
            (impostors.weights_of(kind, trained), impostors.weights_impostors(kind, trained)),
        ):
            count_refusals(refusals, valid, files, trained.folder)
    return refusals.row()


def commands_row(
    trained: TrainedFiles, forks: Forks, share: float, seed: int, kinds: Sequence[str] = READ
) -> Row:
    """Run commands on damaged files: exit code 2, one line, and an unchanged run folder."""
    refusals, count = Refusals("damaged files read by commands"), _scaled(COMMANDS, share)
    rng = np.random.default_rng(seed)
    graphs, graph = trained.folder / "graphs.jsonl", trained.folder / "graph.json"
    for run in map(trained.run, kinds):
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
                refusals.add(name, one.damage, *_fault_of(forks.run(*command)))
                refusals.compare(name, one.damage, before, _bytes_in(run))
            file.write_bytes(good)
    return refusals.row()


def _any_damage(data: bytes, count: int, rng: np.random.Generator) -> Iterator[Damaged]:
    functions = (flipped_bits, truncations, *OTHERS.values())
    for number in range(count):
        yield from damaged(functions[number % len(functions)], data, 1, rng)


def _fault_of(ended: Ended) -> tuple[str | None, str]:
    """Return the kind of fault in the refusal of a file (None without a fault), and the output."""
    if ended.code == 0:
        return LOADED, ended.out
    if ended.code != 2 or "Traceback" in ended.err:
        return TRACEBACK, ended.err
    one_line = ended.err.count("\n") == 1 and ended.err.startswith("streamplace: ")
    return None if one_line else NOT_ONE_LINE, ended.err


def _bytes_in(folder: Path) -> frozenset[tuple[str, bytes]]:
    return frozenset((p.name, p.read_bytes()) for p in folder.iterdir() if p.is_file())


def _scaled(count: int, share: float) -> int:
    return max(2, round(count * share))
