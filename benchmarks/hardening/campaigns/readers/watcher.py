"""The reading of bad files under watch: exceptions, time, memory and side effects."""

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

from benchmarks.hardening.campaigns.readers.observations import Observations
from benchmarks.hardening.corpus.document import Document
from benchmarks.hardening.corpus.special_files import CLOSED, SPECIAL_FILES
from benchmarks.hardening.harness.audit_hook import AuditHook
from benchmarks.hardening.harness.memory_limits import most_bytes
from benchmarks.hardening.harness.privileges import given_up
from benchmarks.hardening.harness.stopwatch import Stopwatch
from benchmarks.hardening.mutation.numbered_documents import cut_numbers, spoilt
from benchmarks.hardening.targets.consumers import InconsistencyError
from benchmarks.hardening.targets.parsers import Parser
from streamplace.errors import StreamplaceError

HANG_S = 1.0  # of CPU time, or of sleep, to read a file
STOP_S = 3  # of CPU time, until reading is stopped
BLOCKED_S = 20  # of wall time
MOST_DATA = 4 * 2**30  # so that one bad file does not stop the campaign
MOST_REPEATS = 5  # numbers tried per new file
WRONG = (
    *("tracebacks", "unclear messages", "hangs", "over 300 MB", "acts", "wrong figures"),
    "too few",
)


class HungError(BaseException):
    """Reading takes too long; not an Exception, so that no reader catches it."""


class Watcher:
    """A watcher of a reader that reads one bad file after another.

    Parameters
    ----------
    folder
        An empty folder for the files; anything else in it counts as a side effect.
    """

    def __init__(self, parser: Parser, folder: Path, seed: int) -> None:
        self.parser, self.folder, self.seed = parser, folder, seed
        self.documents = parser.documents()
        self._cut = cut_numbers(self.documents)
        self.seen = Observations(smallest=min(len(document.data) for document in self.documents))
        self._of_web = parser.name == "flink-rest"  # its messages name an address
        self._audit_hook = AuditHook(folder)
        self._most_bytes = most_bytes(parser.torch)
        self._known: set[int] = set()
        signal.signal(signal.SIGPROF, _raise_hung)
        signal.signal(signal.SIGALRM, _raise_hung)

    def read_good(self) -> None:
        """Read the good files, which loads everything that is loaded once."""
        for document in self.documents:
            path = self.folder / document.name
            path.write_bytes(document.data)
            value = self.parser.read(str(self.folder if self.parser.of_folder else path))
            with suppress(StreamplaceError):  # some good files do not fit the other inputs
                self.parser.use(value)
            path.unlink()

    def read_numbered(self, number: int) -> bool:
        """Read a bad file; return False without reading if an equal one was read before."""
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
        self._check_folder(document.name, which)
        return True

    def read_special(self, what: str) -> None:
        """Read a special file."""
        inside = self.folder / "odd"
        inside.mkdir()
        path = SPECIAL_FILES[what](inside, self.documents[0].data)
        which = f"{self.parser.name} {what!r}"
        with given_up() if what == CLOSED else nullcontext():
            self._try(path, which)
        shutil.rmtree(inside, ignore_errors=True)
        self._check_folder("", which)

    def _is_new(self, document: Document) -> bool:
        key = hash((document.name, document.data))
        if key in self._known:
            return False
        self._known.add(key)
        return True

    def _try(self, path: str, which: str) -> None:
        self.seen.tried += 1
        began, reading, hung = Stopwatch(), True, False
        took = asleep = 0.0
        ignored: list[str] = []
        with self._timed(), self._audit_hook.recorded() as acts, _unraisable_errors(ignored):
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
            except InconsistencyError as error:
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
        self._check_memory(which)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        signal.setitimer(signal.ITIMER_PROF, STOP_S)
        signal.setitimer(signal.ITIMER_REAL, BLOCKED_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _check_folder(self, name: str, which: str) -> None:
        """Empty the folder; another file in it, or a missing one, is a side effect."""
        there = {path.name for path in self.folder.iterdir()}
        if there != ({name} if name else set()):
            self.seen.blame("acts", which, f"left {sorted(there)}")
        for path in self.folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    def _check_memory(self, which: str) -> None:
        before, now = self.seen.peak_bytes, peak_bytes()
        self.seen.peak_bytes = now
        if now > self._most_bytes >= before:
            self.seen.blame("over 300 MB", which, f"{now:,} bytes of {self._most_bytes:,}")


def observe(
    parser: Parser,
    folder: Path,
    numbers: Iterable[int],
    special: Iterable[str],
    seed: int,
    progress: mmap.mmap,
) -> Observations:
    """Read bad files, and return the observations.

    Parameters
    ----------
    numbers
        The numbers of the files; further numbers replace those of repeated files.
    special
        The descriptions of special files.
    progress
        Shared memory that holds the number of files read so far.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_DATA, MOST_DATA))
    watcher = Watcher(parser, folder, seed)
    watcher.read_good()
    warnings.simplefilter("error")  # a warning on stderr would be no message of ours
    wanted = [*numbers]
    for number in _numbers_and_more(wanted):
        watcher.read_numbered(number)
        progress[:8] = struct.pack("q", watcher.seen.tried)
        if watcher.seen.tried == len(wanted):
            break
    if (tried := watcher.seen.tried) < len(wanted):
        watcher.seen.blame("too few", parser.name, f"{tried:,} of {len(wanted):,} are not the same")
    for what in special:
        watcher.read_special(what)
        progress[:8] = struct.pack("q", watcher.seen.tried)
    watcher.seen.cpu_s = time.process_time()
    return watcher.seen


def _numbers_and_more(numbers: list[int]) -> Iterator[int]:
    """Yield numbers, and then a limited number of larger ones."""
    yield from numbers
    more = count(max(numbers) + 1)
    for _ in range(MOST_REPEATS * len(numbers)):
        yield next(more)


def peak_bytes() -> int:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


@contextmanager
def _unraisable_errors(ignored: list[str]) -> Iterator[None]:
    """Collect the exceptions that Python cannot raise and prints on stderr."""

    def collect(what: "sys.UnraisableHookArgs") -> None:
        ignored.append(f"Exception ignored: {what.exc_type.__name__}: {what.exc_value}")

    before, sys.unraisablehook = sys.unraisablehook, collect
    try:
        yield
    finally:
        sys.unraisablehook = before


def _raise_hung(number: int, frame: FrameType | None) -> None:
    raise HungError


def _names(said: str, path: str) -> bool:
    """Whether a message names a path, or the beginning of a long one."""
    return " ".join(path.splitlines()) in said or repr(path)[:60] in said
