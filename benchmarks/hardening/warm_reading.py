"""Importing this runs good commands: what they load once is there before a process forks."""

import contextlib
import io
import tempfile
from pathlib import Path

from benchmarks.hardening.commands import BAD, COMMANDS, Given, good_files
from benchmarks.hardening.parsers import PARSERS
from streamplace.cli.main import main


def _warm(folder: Path) -> None:
    given: Given = good_files(folder)
    for name, commands in COMMANDS.items():
        if PARSERS[name].torch or name == "flink-rest":
            continue
        document = PARSERS[name].documents()[-1]
        bad = folder / document.name
        bad.write_bytes(document.data)
        path = str(folder) if PARSERS[name].of_folder else str(bad)
        for i, words in enumerate(commands):
            assert BAD in words
            with contextlib.redirect_stderr(io.StringIO()):
                main(given.filled(words, path, str(folder / f"{name}-{i}")))


with (
    tempfile.TemporaryDirectory() as made,
    contextlib.redirect_stdout(
        io.TextIOWrapper(io.BytesIO())  # which has a buffer, as stdout has
    ),
):
    _warm(Path(made))
