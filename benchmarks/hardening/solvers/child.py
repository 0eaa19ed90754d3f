"""A process that gives problems to one wrapper and says of each what came of it.

    python -m benchmarks.hardening.solvers.child WRAPPER SEED FIRST END COUNT ANSWERS

ANSWERS is a file descriptor: a line before each problem, one as soon as it reaches the library and
one after it, so that whoever reads them knows which problem a process ended with, and where.
"""

import ctypes
import json
import os
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from benchmarks.hardening.solvers.calls import Calls
from benchmarks.hardening.solvers.jobs import NoJobError
from benchmarks.hardening.solvers.parent import NOT_GIVEN
from benchmarks.hardening.solvers.wrappers import Try, library_of, of_name
from streamplace.errors import StreamplaceError


def main() -> None:
    """Go through the problems FIRST to END until COUNT have reached the library."""
    name, *numbers = sys.argv[1:]
    seed, number, end, left, answers = map(int, numbers)
    with os.fdopen(answers, "w", buffering=1) as told:
        calls = Calls(lambda: print(json.dumps({"reaches": number}), file=told))
        attempt, library = made(name)
        calls.attach(library)
        while left and number < end:
            print(json.dumps({"begins": number}), file=told)
            print(json.dumps(tried(attempt, number, seed, calls)), file=told)
            left -= calls.made > 0
            number += 1


def made(name: str) -> tuple[Try, Sequence[str]]:
    """Return a wrapper and its library, or ``module::function`` and the ``library`` there."""
    module, colon, function = name.partition("::")
    if not colon:
        return of_name(name), library_of(name)
    found: Try = getattr(import_module(module), function)
    return found, [f"{module}:library"]


def tried(attempt: Try, number: int, seed: int, calls: Calls) -> dict[str, Any]:
    """Return what came of a problem: placed, refused, invalid, an error; and what was printed."""
    calls.begin()
    before, begin = written(), time.perf_counter()
    came, said = "placed", ""
    try:
        if (wrong := attempt(number, seed)) is not None:
            came, said = "invalid", wrong
    except NoJobError as error:
        came, said = NOT_GIVEN, str(error)
    except StreamplaceError as error:
        came, said = "refused", f"{type(error).__name__}: {error}"
    except Exception as error:  # whatever else is a fault
        came, said = "errors", f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - begin
    out, err = (after - was for after, was in zip(written(), before, strict=True))
    answer = {"came": came, "said": said[:500], "failed": calls.failed > 0, "seconds": seconds}
    return {**answer, "out": out, "err": err}


def written() -> tuple[int, int]:
    """Return bytes on stdout and stderr so far, those of C code too: both are files."""
    sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)
    return os.fstat(1).st_size, os.fstat(2).st_size


if __name__ == "__main__":
    main()
