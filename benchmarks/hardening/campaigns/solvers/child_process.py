"""A process that gives problems to one wrapper, and reports the outcome of each.

python -m benchmarks.hardening.campaigns.solvers.child_process WRAPPER SEED FIRST END COUNT ANSWERS

ANSWERS is a file descriptor. The process writes a line before each problem, a line when the problem
reaches the library, and a line after it. They tell the parent process at which
problem, and where in it, this process ended.
"""

import ctypes
import json
import os
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from benchmarks.hardening.campaigns.solvers.account import NOT_GIVEN
from benchmarks.hardening.campaigns.solvers.call_counter import CallCounter
from benchmarks.hardening.campaigns.solvers.odd_problems import NoProblemError
from benchmarks.hardening.campaigns.solvers.wrappers import Attempt, attempt_of, library_of
from streamplace.errors import StreamplaceError


def main() -> None:
    """Try the problems FIRST to END until COUNT of them have reached the library."""
    name, *numbers = sys.argv[1:]
    seed, number, end, left, answers = map(int, numbers)
    with os.fdopen(answers, "w", buffering=1) as told:
        calls = CallCounter(lambda: print(json.dumps({"reaches": number}), file=told))
        attempt, library = resolved(name)
        calls.attach(library)
        while left and number < end:
            print(json.dumps({"begins": number}), file=told)
            print(json.dumps(outcome_of(attempt, number, seed, calls)), file=told)
            left -= calls.made > 0
            number += 1


def resolved(name: str) -> tuple[Attempt, Sequence[str]]:
    """Return a wrapper and its library; ``module::function`` has the function ``library``."""
    module, colon, function = name.partition("::")
    if not colon:
        return attempt_of(name), library_of(name)
    found: Attempt = getattr(import_module(module), function)
    return found, [f"{module}:library"]


def outcome_of(attempt: Attempt, number: int, seed: int, calls: CallCounter) -> dict[str, Any]:
    """Return the outcome of a problem (placed, refused, invalid, error), and the printed bytes."""
    calls.begin()
    before, begin = printed_bytes(), time.perf_counter()
    came, said = "placed", ""
    try:
        if (wrong := attempt(number, seed)) is not None:
            came, said = "invalid", wrong
    except NoProblemError as error:
        came, said = NOT_GIVEN, str(error)
    except StreamplaceError as error:
        came, said = "refused", f"{type(error).__name__}: {error}"
    except Exception as error:  # any other exception is a fault
        came, said = "errors", f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - begin
    out, err = (after - was for after, was in zip(printed_bytes(), before, strict=True))
    answer = {"came": came, "said": said[:500], "failed": calls.failed > 0, "seconds": seconds}
    return {**answer, "out": out, "err": err}


def printed_bytes() -> tuple[int, int]:
    """Return the sizes of stdout and stderr, which are files, including the output of C code."""
    sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)
    return os.fstat(1).st_size, os.fstat(2).st_size


if __name__ == "__main__":
    main()
