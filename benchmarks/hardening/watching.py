"""Reading bad files in a process of its own: what it raises, how long it takes, what it touches."""

import inspect
import mmap
import resource
import shutil
import signal
import struct
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.hardening.odd_files import ODD
from benchmarks.hardening.parsers import Parser
from benchmarks.hardening.spoiling import spoilt
from benchmarks.hardening.using import WrongError
from streamplace.errors import StreamplaceError

HANG_S = 1.0  # of CPU time, to read a file
STOP_S = 3  # of CPU time, until it is ended
BLOCKED_S = 20  # of any time
MOST_MIB = 300
MOST_DATA = 4 * 2**30  # so that this machine lives on
RUNS = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "subprocess.Popen",
    "pickle.find_class",
)
CALLS = ("socket.connect", "socket.bind", "urllib.Request", "shutil.", "os.remove", "os.rename")
WRONG = ("tracebacks", "unclear messages", "hangs", "over 300 MB", "acts", "wrong figures")


class HungError(BaseException):
    """It takes too long; no error, so that nothing catches it."""


@dataclass
class Seen:
    """What was seen of one reader."""

    tried: int = 0
    read: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    longest_s: float = 0.0
    peak_mib: int = 0
    cpu_s: float = 0.0

    def blame(self, what: str, which: str, said: object) -> None:
        """Count a fault, and say how it can be made again."""
        self.wrong[what] += 1
        self.faults.append(f"{which}: {what}: {' '.join(str(said).split())[:200]}")

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**vars(self), "wrong": dict(self.wrong)}


class Watcher:
    """Reads bad files one after another.

    Parameters
    ----------
    folder
        Of nobody else: every file is put there, and nothing else may be.
    """

    def __init__(self, parser: Parser, folder: Path, seed: int) -> None:
        self.parser, self.folder, self.seed = parser, folder, seed
        self.documents = parser.documents()
        self.seen = Seen()
        self._of_web = parser.name == "flink-rest"  # whose messages name an address
        self._acts: list[str] = []
        self._watched = False
        sys.addaudithook(self._audit)
        signal.signal(signal.SIGPROF, _hang)
        signal.signal(signal.SIGALRM, _hang)

    def good(self) -> None:
        """Read the good files, so that what is loaded once is there."""
        for document in self.documents:
            path = self.folder / document.name
            path.write_bytes(document.data)
            value = self.parser.read(str(self.folder if self.parser.of_folder else path))
            with suppress(StreamplaceError):  # some are for other clusters
                self.parser.use(value)
            path.unlink()

    def number(self, number: int) -> None:
        """Read a bad file."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            document = spoilt(self.documents, number, self.seed, self.parser.faults)
        path = self.folder / document.name
        path.write_bytes(document.data)
        which = f"{self.parser.name} {number} (seed {self.seed})"
        self._try(str(self.folder if self.parser.of_folder else path), which)
        path.unlink()

    def odd(self, what: str) -> None:
        """Read what is no plain file."""
        inside = self.folder / "odd"
        inside.mkdir()
        path = ODD[what](inside, self.documents[0].data)
        self._try(path, f"{self.parser.name} {what!r}")
        shutil.rmtree(inside, ignore_errors=True)

    def _try(self, path: str, which: str) -> None:
        self.seen.tried += 1
        self._acts.clear()
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, STOP_S)
        signal.setitimer(signal.ITIMER_REAL, BLOCKED_S)
        self._watched = True
        took = 0.0
        reading, hung = True, False
        try:
            value = self.parser.read(path)
            took, reading = time.process_time() - began, False
            self.seen.read += 1
            self.parser.use(value)
        except StreamplaceError as error:
            said = str(error)
            named = not reading or self._of_web or _names(said, path)
            if len(said.splitlines()) != 1 or not named:
                self.seen.blame("unclear messages", which, said)
        except WrongError as error:
            self.seen.blame("wrong figures", which, error)
        except HungError:
            hung = True
            self.seen.blame("hangs", which, f"ended after {STOP_S} s")
        except BaseException as error:
            self.seen.blame("tracebacks", which, f"{type(error).__name__}: {error}")
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._watched = False
        took = took or time.process_time() - began
        self.seen.longest_s = max(self.seen.longest_s, took)
        if took > HANG_S and not hung:
            self.seen.blame("hangs", which, f"{took:.2f} s")
        for act in self._acts:
            self.seen.blame("acts", which, act)
        self._look_at_memory(which)

    def _look_at_memory(self, which: str) -> None:
        before, now = self.seen.peak_mib, peak_mib()
        self.seen.peak_mib = now
        if now > MOST_MIB >= before and not self.parser.torch:
            self.seen.blame("over 300 MB", which, f"{now} MiB")

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._watched:
            return
        if event == "pickle.find_class" and _by_numba():
            return
        if event.startswith((*RUNS, *CALLS)) or (event == "open" and _writes(arguments)):
            self._acts.append(f"{event} {arguments!r:.100}")


def watch(
    parser: Parser,
    folder: Path,
    numbers: Iterable[int],
    odd: Iterable[str],
    seed: int,
    progress: mmap.mmap,
) -> Seen:
    """Read bad files, and return what was seen.

    Parameters
    ----------
    progress
        Where whoever waits for this sees how many there have been.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_DATA, MOST_DATA))
    watcher = Watcher(parser, folder, seed)
    watcher.good()
    warnings.simplefilter("error")  # what is said on stderr is no line of ours
    for number in numbers:
        watcher.number(number)
        progress[:8] = struct.pack("q", watcher.seen.tried)
    for what in odd:
        watcher.odd(what)
        progress[:8] = struct.pack("q", watcher.seen.tried)
    watcher.seen.cpu_s = time.process_time()
    return watcher.seen


def peak_mib() -> int:
    """Return the most memory that this process has had at once."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _hang(number: int, frame: FrameType | None) -> None:
    raise HungError


def _by_numba() -> bool:
    """Whether kernels that were compiled before are being loaded."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals.get("__name__") == "numba.core.caching":
            return True
        frame = frame.f_back
    return False


def _names(said: str, path: str) -> bool:
    """Whether a message names a path, or as much of it as fits."""
    return " ".join(path.splitlines()) in said or repr(path)[:60] in said


def _writes(arguments: tuple[Any, ...]) -> bool:
    path, mode = arguments[:2]
    return isinstance(mode, str) and mode[:1] in ("w", "a", "x", "+") and path != "/dev/null"
