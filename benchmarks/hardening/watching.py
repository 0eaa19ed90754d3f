"""Reading bad files in a process of its own: what it raises, how long it takes, what it touches."""

import mmap
import resource
import shutil
import signal
import struct
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import count
from pathlib import Path
from types import FrameType

from benchmarks.hardening.acts import Acts
from benchmarks.hardening.limits import Times, most_bytes
from benchmarks.hardening.numbered import cut_numbers, spoilt
from benchmarks.hardening.odd_files import CLOSED, ODD
from benchmarks.hardening.parsers import Parser
from benchmarks.hardening.privileges import given_up
from benchmarks.hardening.seen import Seen
from benchmarks.hardening.spoiling import Document
from benchmarks.hardening.using import WrongError
from streamplace.errors import StreamplaceError

HANG_S = 1.0  # of CPU time to read a file; or asleep
STOP_S = 3  # of CPU time, until it is ended
BLOCKED_S = 20  # of any time
MOST_DATA = 4 * 2**30  # so that one bad file does not bring the others down
MOST_REPEATS = 5  # numbers for each file that is to be another one
WRONG = (
    *("tracebacks", "unclear messages", "hangs", "over 300 MB", "acts", "wrong figures"),
    "too few",
)


class HungError(BaseException):
    """It takes too long; no error, so that nothing catches it."""


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
        self._cut = cut_numbers(self.documents)
        self.seen = Seen(smallest=min(len(document.data) for document in self.documents))
        self._of_web = parser.name == "flink-rest"  # whose messages name an address
        self._acts = Acts(folder)
        self._most_bytes = most_bytes(parser.torch)
        self._known: set[int] = set()
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

    def number(self, number: int) -> bool:
        """Read a bad file; return False, and read nothing, if that was read before."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            document = spoilt(self.documents, number, self.seed, self.parser.faults)
        self.seen.cut += number in self._cut
        if not self._is_new(document):
            self.seen.repeats += 1
            return False
        path = self.folder / document.name
        path.write_bytes(document.data)
        which = f"{self.parser.name} {number} (seed {self.seed})"
        self._try(str(self.folder if self.parser.of_folder else path), which)
        self._look_around(document.name, which)
        return True

    def odd(self, what: str) -> None:
        """Read what is no plain file."""
        inside = self.folder / "odd"
        inside.mkdir()
        path = ODD[what](inside, self.documents[0].data)
        which = f"{self.parser.name} {what!r}"
        with given_up() if what == CLOSED else nullcontext():
            self._try(path, which)
        shutil.rmtree(inside, ignore_errors=True)
        self._look_around("", which)

    def _is_new(self, document: Document) -> bool:
        key = hash((document.name, document.data))
        if key in self._known:
            return False
        self._known.add(key)
        return True

    def _try(self, path: str, which: str) -> None:
        self.seen.tried += 1
        began, reading, hung = Times(), True, False
        took = asleep = 0.0
        ignored: list[str] = []
        with self._timed(), self._acts.watched() as acts, _hearing(ignored):
            try:
                value = self.parser.read(path)
                took, asleep, reading = *began.since(), False
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
                self.seen.blame("hangs", which, f"ended after {STOP_S} s, or {BLOCKED_S} s asleep")
            except BaseException as error:
                self.seen.blame("tracebacks", which, f"{type(error).__name__}: {error}")
        if reading:
            took, asleep = began.since()
        self.seen.longest_s = max(self.seen.longest_s, took)
        if max(took, asleep) > HANG_S and not hung:
            self.seen.blame("hangs", which, f"{took:.2f} s, and {asleep:.2f} s asleep")
        for said in ignored:
            self.seen.blame("tracebacks", which, said)
        for act in acts:
            self.seen.blame("acts", which, act)
        self._look_at_memory(which)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        signal.setitimer(signal.ITIMER_PROF, STOP_S)
        signal.setitimer(signal.ITIMER_REAL, BLOCKED_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _look_around(self, name: str, which: str) -> None:
        """Take the file away; what else is in the folder, or that it is gone, is an act."""
        there = {path.name for path in self.folder.iterdir()}
        if there != ({name} if name else set()):
            self.seen.blame("acts", which, f"left {sorted(there)}")
        for path in self.folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    def _look_at_memory(self, which: str) -> None:
        before, now = self.seen.peak_bytes, peak_bytes()
        self.seen.peak_bytes = now
        if now > self._most_bytes >= before:
            self.seen.blame("over 300 MB", which, f"{now:,} bytes of {self._most_bytes:,}")


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
    numbers
        Of them; others follow until so many were read that no two are the same.
    progress
        Where whoever waits for this sees how many there have been.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_DATA, MOST_DATA))
    watcher = Watcher(parser, folder, seed)
    watcher.good()
    warnings.simplefilter("error")  # what is said on stderr is no line of ours
    wanted = [*numbers]
    for number in _and_more(wanted):
        watcher.number(number)
        progress[:8] = struct.pack("q", watcher.seen.tried)
        if watcher.seen.tried == len(wanted):
            break
    if (tried := watcher.seen.tried) < len(wanted):
        watcher.seen.blame("too few", parser.name, f"{tried:,} of {len(wanted):,} are not the same")
    for what in odd:
        watcher.odd(what)
        progress[:8] = struct.pack("q", watcher.seen.tried)
    watcher.seen.cpu_s = time.process_time()
    return watcher.seen


def _and_more(numbers: list[int]) -> Iterator[int]:
    """Yield numbers, and then those after the largest, for a while."""
    yield from numbers
    more = count(max(numbers) + 1)
    for _ in range(MOST_REPEATS * len(numbers)):
        yield next(more)


def peak_bytes() -> int:
    """Return the most memory that this process has had at once."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


@contextmanager
def _hearing(ignored: list[str]) -> Iterator[None]:
    """Put into a list what goes wrong where nobody can be told: Python prints it on stderr."""

    def hear(what: "sys.UnraisableHookArgs") -> None:
        ignored.append(f"Exception ignored: {what.exc_type.__name__}: {what.exc_value}")

    before, sys.unraisablehook = sys.unraisablehook, hear
    try:
        yield
    finally:
        sys.unraisablehook = before


def _hang(number: int, frame: FrameType | None) -> None:
    raise HungError


def _names(said: str, path: str) -> bool:
    """Whether a message names a path, or as much of it as fits."""
    return " ".join(path.splitlines()) in said or repr(path)[:60] in said
