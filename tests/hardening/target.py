"""Targets: the cases of a reader, a writer or a wrapper, and the check that every case passes."""

import resource
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from streamplace.errors import StreamplaceError

CPU_S = 10.0  # far above what any case needs, since the first of its kind may import and compile
MEMORY_KB = 300 * 1024  # by which a case may raise the peak of the process
EFFECTS = (
    "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.kill",
    "socket.connect", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink",
    "os.truncate", "os.chmod",
)  # fmt: skip
"""Audit events that reading never causes."""
BAIT = "/etc/passwd"
"""A file that some malformed texts name."""


class FaultError(AssertionError):
    """A reader, a writer or a wrapper does what it must never do."""


@dataclass(frozen=True)
class Target:
    """A reader, a writer or a wrapper under test.

    Parameters
    ----------
    cases
        Returns the strategy of its cases.
    check
        Raises an exception if a case shows a fault.
    seeds
        Returns cases that are always checked first.
    is_slow
        Whether only the long tests run it.
    """

    cases: Callable[[], st.SearchStrategy[Any]]
    check: Callable[[Any], None]
    seeds: Callable[[], Iterable[Any]] = tuple
    is_slow: bool = False

    def test(self, examples: int, numbers: int | None = None, *, shrinks: bool = True) -> Any:
        """Return a test that checks a number of cases; without `numbers`, always the same ones.

        Parameters
        ----------
        numbers
            The seed of the cases.
        shrinks
            Whether to look for the smallest case that shows a fault.
        """
        phases = [Phase.generate, Phase.shrink] if shrinks else [Phase.generate]

        @settings(
            max_examples=examples,
            deadline=None,
            derandomize=numbers is None,
            database=None,
            phases=phases,
            report_multiple_bugs=False,
            suppress_health_check=[*HealthCheck],
        )
        @given(self.cases())
        def check(case: Any) -> None:
            self.check(case)

        return check if numbers is None else seed(numbers)(check)

    def run(self, examples: int, numbers: int | None = None, *, shrinks: bool = True) -> None:
        """Check the seeds, and a number of cases as `test` does."""
        for case in self.seeds():
            self.check(case)
        self.test(examples, numbers, shrinks=shrinks)()


class TooLongError(BaseException):
    """A case takes too long; no handler of exceptions may catch it."""


_effects: list[str] | None = None


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _effects is None or threading.current_thread() is not threading.main_thread():
        return
    if event == "open":
        path, mode = arguments[0], arguments[1]
        is_written = isinstance(mode, str) and {*"wax+"} & {*mode}
        if path != BAIT and not is_written:
            return
    elif event not in EFFECTS:
        return
    if "__pycache__" not in str(arguments[0]):  # what an import writes
        _effects.append(f"{event} {arguments!r:.80}")


sys.addaudithook(_audit)


@contextmanager
def watched(*, effects: bool = True) -> Iterator[None]:
    """Raise a fault if the block takes too long, too much memory, warns or has side effects.

    Parameters
    ----------
    effects
        Whether side effects are faults: programs, connections, and changes of files.
    """
    global _effects  # noqa: PLW0603 - an audit hook stays for good, and is told when to record
    before, began = _peak_kb(), time.process_time()
    handler = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, CPU_S)
    found: list[str] = []
    _effects = found if effects else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    except TooLongError:
        raise FaultError(f"takes more than {CPU_S:g} s of CPU time") from None
    finally:
        _effects = None
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
    if (took := time.process_time() - began) > CPU_S:
        raise FaultError(f"took {took:.1f} s of CPU time")
    if (grown := _peak_kb() - before) > MEMORY_KB:
        raise FaultError(f"took {grown / 1024:.0f} MiB of memory")
    if found:
        raise FaultError(f"has side effects: {'; '.join(found)}")


def message_of(error: StreamplaceError) -> str:
    """Return the message of an error; raise a fault unless it is one line."""
    message = str(error)
    if len(message.splitlines()) != 1:
        raise FaultError(f"a message of several lines, or of none: {message!r}")
    return message


def _stop(number: int, frame: FrameType | None) -> None:
    raise TooLongError


def _peak_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
