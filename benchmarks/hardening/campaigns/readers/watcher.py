"""Reading of bad files while watching exceptions, time, memory and side effects."""

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

from benchmarks.hardening.campaigns.readers.limits import Limits
from benchmarks.hardening.campaigns.readers.observations import Observations
from benchmarks.hardening.corpus.document import Document
from benchmarks.hardening.corpus.special_files import CLOSED, SPECIAL_FILES
from benchmarks.hardening.harness.audit_hook import AuditHook
from benchmarks.hardening.harness.memory_limits import memory_limit
from benchmarks.hardening.harness.privileges import override_dropped
from benchmarks.hardening.harness.stopwatch import Stopwatch
from benchmarks.hardening.mutation.numbered_documents import bad_document, cut_numbers
from benchmarks.hardening.targets.consumers import InconsistencyError
from benchmarks.hardening.targets.parsers import SERVED, Parser
from streamplace.errors import StreamplaceError
from streamplace.execution.calls import peak_bytes

MAX_DATA = 4 * 2**30  # bytes of data memory; a reader that needs more gets a MemoryError
MAX_REPEATS = 5  # further numbers tried per requested file, if files repeat
WRONG = (
    *("tracebacks", "unclear messages", "hangs", "over 300 MB", "side effects"),
    *("inconsistent values", "too few"),
)
"""Kinds of faults; "too few" means that too few of a reader's bad files are different."""


class HungError(BaseException):
    """Reading takes too long. A BaseException, so that no reader catches it."""


class Watcher:
    """A watcher of a reader while it reads one bad file after another.

    Parameters
    ----------
    folder
        An empty folder for the files; any other file in it counts as a side effect.
    """

    def __init__(self, parser: Parser, folder: Path, seed: int, limits: Limits) -> None:
        self.parser, self.folder, self.seed, self.limits = parser, folder, seed, limits
        self.documents = parser.documents()
        self._cut = cut_numbers(self.documents)
        self.results = Observations(smallest=min(len(document.data) for document in self.documents))
        self._reads_server = parser.name in SERVED  # its messages name an address, not a file
        self._audit_hook = AuditHook(folder)
        self._memory_limit = memory_limit(parser.torch)
        self._known: set[int] = set()
        signal.signal(signal.SIGPROF, _raise_hung)
        signal.signal(signal.SIGALRM, _raise_hung)

    def read_good(self) -> None:
        """Read the valid files, so that everything that is loaded once is loaded."""
        for document in self.documents:
            path = self.folder / document.name
            path.write_bytes(document.data)
            value = self.parser.read(str(self.folder if self.parser.takes_folder else path))
            with suppress(StreamplaceError):  # some valid files do not fit the other inputs
                self.parser.use(value)
            path.unlink()

    def read_numbered(self, number: int) -> bool:
        """Read a bad file; return False, without reading it, if an equal one was read before."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            document = bad_document(self.documents, number, self.seed, self.parser.faults)
        self.results.cut += number in self._cut
        if not self._is_new(document):
            self.results.repeats += 1
            return False
        name, path = document.name, self.folder / document.name
        path.write_bytes(document.data)
        del document  # its memory is not the reader's
        which = f"{self.parser.name} {number} (seed {self.seed})"
        self._try(str(self.folder if self.parser.takes_folder else path), which)
        self._check_folder(name, which)
        return True

    def read_special(self, what: str) -> None:
        """Read a special file."""
        inside = self.folder / "special"
        inside.mkdir()
        path = SPECIAL_FILES[what](inside, self.documents[0].data)
        which = f"{self.parser.name} {what!r}"
        with override_dropped() if what == CLOSED else nullcontext():
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
        self.results.tried += 1
        forget_peak()
        stopwatch, reading, hung = Stopwatch(), True, False
        took = asleep = 0.0
        ignored: list[str] = []
        recorded = self._audit_hook.recorded(self.parser.names_files)
        with self._timed(), recorded as effects, _unraisable_errors(ignored):
            try:
                value = self.parser.read(path)
                took, asleep, reading = *stopwatch.since(), False
                self.results.read += 1
                self.parser.use(value)
            except StreamplaceError as error:
                message = str(error)
                named = not reading or self._reads_server or _names(message, path)
                if len(message.splitlines()) != 1 or not named:
                    self.results.blame("unclear messages", which, message)
            except InconsistencyError as error:
                self.results.blame("inconsistent values", which, error)
            except HungError:
                hung = True
                detail = f"stopped after {self.limits.stop_s:g} s of CPU time"
                detail += f" or {self.limits.blocked_s:g} s of wall time"
                self.results.blame("hangs", which, detail)
            except BaseException as error:
                self.results.blame("tracebacks", which, f"{type(error).__name__}: {error}")
        if reading:
            took, asleep = stopwatch.since()
        self.results.longest_s = max(self.results.longest_s, took)
        if max(took, asleep) > self.limits.hang_s and not hung:
            self.results.blame("hangs", which, f"{took:.2f} s of CPU, {asleep:.2f} s asleep")
        for message in ignored:
            self.results.blame("tracebacks", which, message)
        for effect in effects:
            self.results.blame("side effects", which, effect)
        self._check_memory(which)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        signal.setitimer(signal.ITIMER_PROF, self.limits.stop_s)
        signal.setitimer(signal.ITIMER_REAL, self.limits.blocked_s)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _check_folder(self, name: str, which: str) -> None:
        """Empty the folder; an additional or missing file is a side effect."""
        present = {path.name for path in self.folder.iterdir()}
        if present != ({name} if name else set()):
            self.results.blame("side effects", which, f"left {sorted(present)}")
        for path in self.folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    def _check_memory(self, which: str) -> None:
        now = peak_bytes()
        self.results.peak_bytes = max(self.results.peak_bytes, now)
        if now > self._memory_limit:
            self.results.blame("over 300 MB", which, f"{now:,} bytes of {self._memory_limit:,}")


def observe(
    parser: Parser,
    folder: Path,
    numbers: Iterable[int],
    special: Iterable[str],
    seed: int,
    limits: Limits,
    progress: mmap.mmap,
) -> Observations:
    """Read bad files, and return the observations.

    Parameters
    ----------
    numbers
        The numbers of the files; for each repeated file, a further number is read instead.
    special
        The names of special files, as in `SPECIAL_FILES`.
    progress
        Shared memory that holds the number of files read so far.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_DATA, MAX_DATA))
    watcher = Watcher(parser, folder, seed, limits)
    watcher.read_good()
    warnings.simplefilter("error")  # a warning on stderr would not be a message of streamplace
    requested = [*numbers]
    for number in _numbers_and_more(requested):
        watcher.read_numbered(number)
        progress[:8] = struct.pack("q", watcher.results.tried)
        if watcher.results.tried == len(requested):
            break
    if (tried := watcher.results.tried) < len(requested):
        watcher.results.blame(
            "too few", parser.name, f"only {tried:,} of {len(requested):,} files differ"
        )
    for what in special:
        watcher.read_special(what)
        progress[:8] = struct.pack("q", watcher.results.tried)
    watcher.results.cpu_s = time.process_time()
    return watcher.results


def _numbers_and_more(numbers: list[int]) -> Iterator[int]:
    """Yield the numbers, then a limited number of larger ones."""
    yield from numbers
    more = count(max(numbers) + 1)
    for _ in range(MAX_REPEATS * len(numbers)):
        yield next(more)


def forget_peak() -> None:
    """Let `peak_bytes` be the peak from now on, where the kernel can do that."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


@contextmanager
def _unraisable_errors(ignored: list[str]) -> Iterator[None]:
    """Collect the exceptions that Python cannot raise and prints on stderr instead."""

    def collect(what: "sys.UnraisableHookArgs") -> None:
        ignored.append(f"Exception ignored: {what.exc_type.__name__}: {what.exc_value}")

    before, sys.unraisablehook = sys.unraisablehook, collect
    try:
        yield
    finally:
        sys.unraisablehook = before


def _raise_hung(number: int, frame: FrameType | None) -> None:
    raise HungError


def _names(message: str, path: str) -> bool:
    """Return whether a message names a path, or the beginning of a long one."""
    return " ".join(path.splitlines()) in message or repr(path)[:60] in message
