"""Malicious files in place of every file that streamplace reads."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir
from pathlib import Path

from benchmarks.hardening.corpus.payloads import (
    Payload,
    is_harmful,
    payloads,
    was_executed,
    write_module,
)
from benchmarks.hardening.harness.forks import Forks
from benchmarks.hardening.harness.rows import MAX_FAULTS, Row
from benchmarks.hardening.targets.entry_points import EntryPoint, commands, functions
from benchmarks.reference.trainings import config, graphs
from streamplace.errors import StreamplaceError
from streamplace.files import write_dataset
from streamplace.files.training_logs import CONFIG, POLICY
from streamplace.training import train
from streamplace.workflows.place import place

EXECUTED, TRACEBACK, UNREAD, HARMLESS = "executed", "tracebacks", "not read", "harmless payloads"
"""Kinds of faults: a payload was executed, the reader ended with a traceback or with a message that
does not name the file, or the payload does no harm even when it is executed.
"""


def malicious_rows(made: Path, forks: Forks, share: float = 1.0) -> Iterator[Row]:
    """Let functions and commands read payloads; the whole campaign tries every combination.

    Parameters
    ----------
    made
        An empty folder for the files.
    """
    folder = made / "payloads"
    payloads_to_read = write_files(folder)
    step = max(1, round(1 / share))
    with chdir(folder):
        harmless = [one.name for one in payloads_to_read if not is_harmful(one)]
        for what, entry_points in (("functions", functions()), ("commands", commands())):
            pairs = [(one, entry_point) for entry_point in entry_points for one in payloads_to_read]
            yield payload_row(f"malicious files read by {what}", pairs[::step], harmless, forks)


def write_files(folder: Path) -> list[Payload]:
    """Write valid files of every kind into a new folder; return the payloads."""
    folder.mkdir()
    train(graphs(), config(), folder / "run")
    shutil.copy(folder / "run" / CONFIG, folder / "config.json")
    write_dataset(folder / "graphs.jsonl", graphs())
    write_dataset(folder / "graph.json", graphs()[:1])
    write_dataset(folder / "graph.npz", graphs()[:1])
    place(graphs()[0], source_rate=1e4, placer="greedy").save(folder / "placement.json")
    (folder / "document").write_text("digraph { a -> b }")
    write_module(folder)
    return payloads(
        (folder / "run" / POLICY).read_bytes(),
        folder / "graph.npz",
        json.loads((folder / "config.json").read_text()),
        json.loads((folder / "placement.json").read_text()),
    )


def payload_row(
    what: str, pairs: Iterable[tuple[Payload, EntryPoint]], harmless: list[str], forks: Forks
) -> Row:
    """Let entry points read payloads in the current folder; count executions and errors.

    Parameters
    ----------
    what
        What the row is called.
    pairs
        Payloads, each with an entry point that reads it.
    harmless
        The names of payloads that turned out to be harmless; each is a fault of the campaign.
    """
    wrong = Counter({EXECUTED: 0, TRACEBACK: 0, UNREAD: 0, HARMLESS: len(harmless)})
    kinds, readers, faults, tried = set(), set(), list(harmless), 0
    for payload, entry_point in pairs:
        tried += 1
        kinds.add(payload.name)
        readers.add(entry_point.name)
        failed = _read(entry_point, payload.data, forks)
        for kind, detail in (*failed.items(), *[(EXECUTED, "")] * was_executed()):
            wrong[kind] += 1
            if len(faults) < MAX_FAULTS:
                faults.append(f"{payload.name} read by {entry_point.name}: {kind} {detail}")
    figures = {"payloads": str(len(kinds)), "readers": str(len(readers))}
    return Row(what, tried, dict(wrong), figures, faults)


def _read(entry_point: EntryPoint, data: bytes, forks: Forks) -> dict[str, str]:
    """Let an entry point read data; return its faults. It may either accept or refuse the data."""
    path = Path(entry_point.file)
    path.parent.mkdir(parents=True, exist_ok=True)
    good = path.read_bytes() if path.exists() else None
    path.write_bytes(data)
    try:
        if isinstance(entry_point.read, tuple):
            return _by_command(entry_point.read, path, forks)
        return _by_function(entry_point.read, path)
    finally:
        if good is not None:
            path.write_bytes(good)
        elif len(path.parts) > 1:
            shutil.rmtree(path.parts[0])
        else:
            path.unlink()
        shutil.rmtree("new", ignore_errors=True)


def _by_command(arguments: tuple[str, ...], path: Path, forks: Forks) -> dict[str, str]:
    ended = forks.run(*arguments, folder=Path.cwd())
    if ended.hung or ended.code not in (0, 2) or "Traceback" in ended.err:
        return {TRACEBACK: ended.err}
    return {} if ended.code == 0 or path.name in ended.err else {UNREAD: ended.err}


def _by_function(read: Callable[[Path], object], path: Path) -> dict[str, str]:
    try:
        read(path)
    except StreamplaceError as error:
        return {} if path.name in str(error) else {UNREAD: str(error)}
    except Exception as error:  # any other exception is a fault
        return {TRACEBACK: f"{type(error).__name__}: {error}"}
    return {}
