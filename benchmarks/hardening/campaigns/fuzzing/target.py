"""The function that atheris calls for each input: a reader, and the use of its result.

python -m benchmarks.hardening.campaigns.fuzzing.target READER [OPTION …] [FOLDER …]

The options are those of libFuzzer, and the folders hold inputs.
"""

import importlib
import math
import os
import signal
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from pathlib import Path
from types import FrameType

import atheris

with atheris.instrument_imports(include=["streamplace"]), warnings.catch_warnings():
    warnings.simplefilter("ignore")  # warnings of other libraries
    from benchmarks.hardening.campaigns.fuzzing.campaign import CPU_LIMIT, RESTART
    from benchmarks.hardening.campaigns.fuzzing.inputs import document_of, input_of, names_of
    from benchmarks.hardening.corpus.document import Document
    from benchmarks.hardening.targets.parsers import PARSERS, Parser
    from streamplace.errors import StreamplaceError

    for late in ("policy.weights", "training.config", "training.run_files"):
        importlib.import_module(f"streamplace.{late}")  # readers import them only when needed

HANG_S = 1.0  # CPU time beyond which reading counts as a hang
STOP_S = 5.0  # CPU time after which reading is stopped


class TooLongError(BaseException):
    """Reading takes too long."""


class Target:
    """A reader that reads inputs as files."""

    def __init__(self, parser: Parser, folder: Path) -> None:
        self.parser, self.folder = parser, folder
        self.names = names_of(parser)
        self.until_cpu_s = math.inf

    def limit(self, cpu_s: float) -> None:
        """Let fuzzing end after a number of CPU seconds from now."""
        self.until_cpu_s = time.process_time() + cpu_s

    def read(self, document: Document, stop_s: float = STOP_S) -> None:
        """Read a file; raise unexpected errors. With `stop_s` 0, the CPU time is not limited."""
        path = self.folder / document.name
        path.write_bytes(document.data)
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, stop_s)
        try:
            self.parser.use(
                self.parser.read(str(self.folder if self.parser.takes_folder else path))
            )
        except StreamplaceError as error:
            if len(str(error).splitlines()) != 1:
                raise ValueError(f"a message of several lines: {error!r}") from None
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        if time.process_time() - began > HANG_S:
            raise TooLongError(f"{time.process_time() - began:.2f} s")

    def __call__(self, data: bytes) -> None:
        """Read an input."""
        self.read(document_of(self.names, data))
        if time.process_time() > self.until_cpu_s:
            os.kill(os.getpid(), signal.SIGUSR1)  # libFuzzer prints its statistics and ends


def inputs(parser: Parser) -> list[bytes]:
    """Return the valid files of a reader as inputs."""
    names = names_of(parser)
    return [input_of(names, document) for document in parser.documents()]


def main() -> None:
    """Fuzz a reader."""
    parser = PARSERS[sys.argv.pop(1)]
    sys.argv[0] = os.environ.get(RESTART, sys.argv[0])
    with tempfile.TemporaryDirectory(prefix="streamplace-fuzz-") as folder:
        target = Target(parser, Path(folder))
        for document in parser.documents():  # loads everything that is loaded only once
            with suppress(TooLongError):
                target.read(document, stop_s=0)
        signal.signal(signal.SIGPROF, _raise_too_long)
        warnings.simplefilter("error")
        target.limit(float(os.environ.get(CPU_LIMIT, "inf")))
        atheris.Setup(sys.argv, target, internal_libfuzzer=True)
        atheris.Fuzz()


def _raise_too_long(number: int, frame: FrameType | None) -> None:
    raise TooLongError(f"{STOP_S:g} s, and still running")


if __name__ == "__main__":
    main()
