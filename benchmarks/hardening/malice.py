"""Files that are meant to do harm, in place of every file that streamplace reads."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir
from pathlib import Path

from benchmarks.hardening.forks import Forks
from benchmarks.hardening.rows import MOST_FAULTS, Row
from benchmarks.hardening.trained import Trained
from benchmarks.hardening.traps import Payload, harmed, payloads, springs, write_module
from benchmarks.hardening.victims import Victim, commands, functions
from benchmarks.reference.trainings import graphs
from streamplace.errors import StreamplaceError
from streamplace.files import write_dataset
from streamplace.training.trainer import CONFIG, POLICY
from streamplace.workflows.place import place

RAN, TRACEBACK, UNREAD, NO_TRAP = "ran", "tracebacks", "not read", "traps that are none"


def run(made: Trained, forks: Forks, share: float = 1.0) -> Iterator[Row]:
    """Lay every trap for every function and every command; a smaller share lays fewer."""
    folder = made.folder / "traps"
    laid = lay_out(folder, made)
    step = max(1, round(1 / share))
    with chdir(folder):
        none = [one.name for one in laid if not springs(one)]
        for what, victims in (("functions", functions()), ("commands", commands())):
            pairs = [(one, victim) for victim in victims for one in laid]
            yield sprung(f"malicious files read by {what}", pairs[::step], none, forks)


def lay_out(folder: Path, made: Trained) -> list[Payload]:
    """Write good files of every kind into a folder, and return the bad ones."""
    folder.mkdir()
    shutil.copytree(made.run("device-scorer"), folder / "run")
    shutil.copy(folder / "run" / CONFIG, folder / "config.json")
    for name in ("graphs.jsonl", "graph.json"):
        shutil.copy(made.folder / name, folder)
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


def sprung(
    what: str, pairs: Iterable[tuple[Payload, Victim]], none: list[str], forks: Forks
) -> Row:
    """Let victims read payloads in the current folder, and count what these do."""
    wrong = Counter({RAN: 0, TRACEBACK: 0, UNREAD: 0, NO_TRAP: len(none)})
    kinds, readers, faults, tried = set(), set(), list(none), 0
    for payload, victim in pairs:
        tried += 1
        kinds.add(payload.name)
        readers.add(victim.name)
        failed = _read(victim, payload.data, forks)
        for kind, said in (*failed.items(), *[(RAN, "")] * harmed()):
            wrong[kind] += 1
            if len(faults) < MOST_FAULTS:
                faults.append(f"{payload.name} read by {victim.name}: {kind} {said}")
    figures = {"kinds": str(len(kinds)), "readers": str(len(readers))}
    return Row(what, tried, dict(wrong), figures, faults)


def _read(victim: Victim, data: bytes, forks: Forks) -> dict[str, str]:
    """Let a victim read data; return what went wrong, nothing if it takes or refuses them."""
    path = Path(victim.file)
    path.parent.mkdir(parents=True, exist_ok=True)
    good = path.read_bytes() if path.exists() else None
    path.write_bytes(data)
    try:
        if isinstance(victim.read, tuple):
            return _by_command(victim.read, path, forks)
        return _by_function(victim.read, path)
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
    except Exception as error:  # what else it may raise is the question
        return {TRACEBACK: f"{type(error).__name__}: {error}"}
    return {}
