"""Importing this runs good commands: what they load once is there before a process forks."""

import contextlib
import io
import tempfile
from pathlib import Path

from benchmarks.hardening.commands import BAD, COMMANDS, WITH_TORCH, Given, good_files
from benchmarks.hardening.parsers import PARSERS
from streamplace.cli.main import main

REFUSED = 2


def _warm(folder: Path) -> None:
    given: Given = good_files(folder)
    config = folder / "empty.toml"  # what it takes to read one; training would load torch
    config.touch()
    with contextlib.redirect_stderr(io.StringIO()):
        told = ["train", given.paths["GRAPH"], "--config", str(config), "-o", str(folder / "run")]
        assert main(told) == REFUSED
    for name, commands in COMMANDS.items():
        if name in (*WITH_TORCH, "flink-rest", "config"):
            continue
        for i, command in enumerate(commands):
            document = PARSERS[name].documents()[0 if command.of is None else command.of[0]]
            bad = folder / document.name
            bad.write_bytes(document.data)
            path = str(folder) if PARSERS[name].of_folder else str(bad)
            assert BAD in command.words
            words = given.filled(command.words, path, str(folder / f"{name}-{i}.json"))
            with contextlib.redirect_stderr(io.StringIO()):
                assert main(words) == 0, words


with (
    tempfile.TemporaryDirectory() as made,
    contextlib.redirect_stdout(
        io.TextIOWrapper(io.BytesIO())  # which has a buffer, as stdout has
    ),
):
    _warm(Path(made))
