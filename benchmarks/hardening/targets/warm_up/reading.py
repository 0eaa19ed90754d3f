"""Good commands, run on import: a process that forks later has loaded what they need."""

import contextlib
import io
import tempfile
from pathlib import Path

from benchmarks.hardening.targets.commands import (
    BAD,
    COMMANDS,
    WITH_TORCH,
    GoodFiles,
    write_good_files,
)
from benchmarks.hardening.targets.parsers import PARSERS
from streamplace.cli.main import main

REFUSED = 2


def _warm(folder: Path) -> None:
    given: GoodFiles = write_good_files(folder)
    config = folder / "empty.toml"  # for the readers of configs; training would load torch
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
        io.TextIOWrapper(io.BytesIO())  # with a buffer like that of stdout
    ),
):
    _warm(Path(made))
