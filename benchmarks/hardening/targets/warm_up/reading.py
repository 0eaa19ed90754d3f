"""Valid commands, run on import, so that a process has loaded all they need before it forks."""

import contextlib
import ctypes
import gc
import io
import tempfile
from pathlib import Path

from benchmarks.hardening.targets.commands import (
    BAD,
    COMMANDS,
    SERVED,
    WITH_TORCH,
    GoodFiles,
    write_good_files,
)
from benchmarks.hardening.targets.parsers import PARSERS
from streamplace.cli.main import main

REFUSED = 2


def _warm(folder: Path) -> None:
    good_files: GoodFiles = write_good_files(folder)
    # an empty config loads the reader of configs, but not torch, which training would load
    config = folder / "empty.toml"
    config.touch()
    with contextlib.redirect_stderr(io.StringIO()):
        train = ["train", good_files.paths["GRAPH"], "--config", str(config)]
        assert main([*train, "-o", str(folder / "run")]) == REFUSED
    for name, commands in COMMANDS.items():
        if name in (*WITH_TORCH, *SERVED, "config"):
            continue
        for i, command in enumerate(commands):
            document = PARSERS[name].documents()[
                0 if command.accepts is None else command.accepts[0]
            ]
            bad = folder / document.name
            bad.write_bytes(document.data)
            path = str(folder) if PARSERS[name].takes_folder else str(bad)
            assert BAD in command.words
            words = good_files.filled(command.words, path, str(folder / f"{name}-{i}.json"))
            with contextlib.redirect_stderr(io.StringIO()):
                assert main(words) == 0, words


with (
    tempfile.TemporaryDirectory() as made,
    contextlib.redirect_stdout(
        io.TextIOWrapper(io.BytesIO())  # with a buffer like that of stdout
    ),
):
    _warm(Path(made))
# what the commands have freed must not count as memory of each fork
gc.collect()
ctypes.CDLL(None).malloc_trim(0)
