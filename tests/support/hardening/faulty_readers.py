"""Readers with one fault each, and the kind of fault that the campaign must count for each."""

import os
import socket
import subprocess
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from benchmarks.hardening.campaigns.readers.limits import GENEROUS, LIMITS, Limits
from benchmarks.hardening.campaigns.readers.process import observe_reader
from benchmarks.hardening.corpus.document import Document
from benchmarks.hardening.mutation.numbered_documents import COUNT
from benchmarks.hardening.targets.consumers import InconsistencyError
from benchmarks.hardening.targets.parsers import PARSERS, Parser
from streamplace.errors import FormatError

GOOD = (Document("file.json", b'{"a": [1, 2, 3]}'),)


def _raises(path: str) -> None:
    raise KeyError(path)


def _warns(path: str) -> None:
    warnings.warn("odd", stacklevel=1)


def _fails_in_a_finaliser(path: str) -> None:
    class Odd:
        def __del__(self) -> None:
            raise KeyError(path)

    Odd()


def _says_two_lines(path: str) -> None:
    error = FormatError(path)
    error.__class__ = type("Long", (FormatError,), {"__str__": lambda self: f"{path}\nand more"})
    raise error


def _names_nothing(path: str) -> None:
    raise FormatError("is bad")


def _computes(path: str) -> None:
    """Use some CPU time, since this reader's limit is 0 s."""
    began = time.process_time()
    while time.process_time() == began:
        pass


def _never_ends(path: str) -> None:
    while True:
        pass


def _takes_memory(path: str) -> None:
    bytearray(400 * 2**20)


def _runs_a_program(path: str) -> None:
    subprocess.run(["true"], check=True)


def _reads_another(path: str) -> None:
    """Read another file, as an external entity of XML does."""
    Path("/etc/passwd").read_bytes()


def _probes_another_file(path: str) -> None:
    with suppress(FileNotFoundError):
        Path("../nobody").read_bytes()


def _writes(path: str) -> None:
    Path("executed").touch()
    with open("executed", "w"):
        pass


def _creates_a_file(path: str) -> None:
    os.close(os.open("executed", os.O_WRONLY | os.O_CREAT))


def _makes_a_folder(path: str) -> None:
    os.mkdir("executed")


def _makes_a_hard_link(path: str) -> None:
    os.link(path, "executed")


def _makes_a_symlink(path: str) -> None:
    os.symlink(path, "executed")


def _truncates(path: str) -> None:
    os.truncate(path, 0)


def _renames(path: str) -> None:
    os.rename(path, path)


def _removes(path: str) -> None:
    with suppress(FileNotFoundError):
        os.remove(Path(path).with_name("nobody"))


def _changes_its_mode(path: str) -> None:
    os.chmod(path, 0o600)


def _makes_a_pipe(path: str) -> None:
    """Make a pipe, which raises no audit event but is found in the folder."""
    os.mkfifo("executed")


def _connects(path: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        connection.connect(("127.0.0.1", 9))


def _sleeps(path: str) -> None:
    time.sleep(3600)


def _exits(path: str) -> None:
    os._exit(3)


def _scores_nothing(path: str) -> None:
    raise InconsistencyError("no number")


BAD: dict[Callable[[str], None], str] = {
    _raises: "tracebacks",
    _warns: "tracebacks",
    _fails_in_a_finaliser: "tracebacks",
    _says_two_lines: "unclear messages",
    _names_nothing: "unclear messages",
    _computes: "hangs",
    _never_ends: "hangs",
    _takes_memory: "over 300 MB",
    _runs_a_program: "side effects",
    _reads_another: "side effects",
    _probes_another_file: "side effects",
    _writes: "side effects",
    _creates_a_file: "side effects",
    _makes_a_folder: "side effects",
    _makes_a_hard_link: "side effects",
    _makes_a_symlink: "side effects",
    _truncates: "side effects",
    _renames: "side effects",
    _removes: "side effects",
    _changes_its_mode: "side effects",
    _makes_a_pipe: "side effects",
    _connects: "side effects",
    _sleeps: "hangs",
    _exits: "tracebacks",
    _scores_nothing: "inconsistent values",
}


PATIENT = LIMITS[GENEROUS]
IMPATIENT: dict[Callable[[str], None], Limits] = {
    _computes: replace(PATIENT, hang_s=0.0),
    _never_ends: replace(PATIENT, stop_s=1.0),
    _sleeps: replace(PATIENT, blocked_s=3.0),
}
"""Reader -> the limit that ends it; all other readers have generous limits."""
FEW = Parser("few", lambda: GOOD, lambda path: None, faults=(lambda data, _: data + b" ",))
"""A reader with few different bad files, since all its mutations are the same."""


def report() -> None:
    """Let each reader read one bad file, and print the kinds of faults that are counted."""
    for read in BAD:
        PARSERS["bad"] = bad(read)
        observations = observe_reader("bad", 1 / COUNT, 0, IMPATIENT.get(read, PATIENT))
        print(f"{read.__name__}: {', '.join(observations.wrong)}")  # noqa: T201
    PARSERS[FEW.name] = FEW
    observations = observe_reader(FEW.name, 20 / COUNT, 0, PATIENT)
    print(f"{FEW.name}: {', '.join(observations.wrong)}")  # noqa: T201


def bad(read: Callable[[str], None]) -> Parser:
    """Return a reader that reads valid files correctly, and bad files with `read`."""

    def careful(path: str) -> None:
        if path.endswith("file.json") and Path(path).read_bytes() != GOOD[0].data:
            read(path)

    return Parser("bad", lambda: GOOD, careful)
