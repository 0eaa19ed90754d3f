"""A process that tries problems with one wrapper, and reports the outcome of each.

python -m benchmarks.hardening.campaigns.solvers.child_process WRAPPER SEED FIRST END COUNT ANSWERS

ANSWERS is a file descriptor. The process writes a line before each problem, when the problem
reaches the library, and after the problem. If the process ends early, these lines show at which
problem, and whether inside the library.
"""

import ctypes
import json
import os
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from benchmarks.hardening.campaigns.solvers.call_counter import CallCounter
from benchmarks.hardening.campaigns.solvers.unusual_problems import NoProblemError
from benchmarks.hardening.campaigns.solvers.wrapper_results import NOT_A_PROBLEM
from benchmarks.hardening.campaigns.solvers.wrappers import Attempt, attempt_of, library_of
from streamplace.errors import StreamplaceError


def main() -> None:
    """Try the problems FIRST to END until COUNT of them have reached the library."""
    name, *numbers = sys.argv[1:]
    seed, number, end, left, answers = map(int, numbers)
    with os.fdopen(answers, "w", buffering=1) as file:
        counter = CallCounter(lambda: print(json.dumps({"reaches": number}), file=file))
        attempt, library = resolved(name)
        counter.attach(library)
        while left and number < end:
            print(json.dumps({"begins": number}), file=file)
            print(json.dumps(outcome_of(attempt, number, seed, counter)), file=file)
            left -= counter.calls > 0
            number += 1


def resolved(name: str) -> tuple[Attempt, Sequence[str]]:
    """Return the function that tries a wrapper, and the functions of its library.

    Tests name their wrappers ``module::function``; the library of these is ``module:library``.
    """
    module, colon, function = name.partition("::")
    if not colon:
        return attempt_of(name), library_of(name)
    attempt: Attempt = getattr(import_module(module), function)
    return attempt, [f"{module}:library"]


def outcome_of(attempt: Attempt, number: int, seed: int, counter: CallCounter) -> dict[str, Any]:
    """Return the outcome of a problem (placed, refused, invalid, errors), and the bytes printed."""
    counter.begin()
    before, begin = printed_bytes(), time.perf_counter()
    outcome, message = "placed", ""
    try:
        if (wrong := attempt(number, seed)) is not None:
            outcome, message = "invalid", wrong
    except NoProblemError as error:
        outcome, message = NOT_A_PROBLEM, str(error)
    except StreamplaceError as error:
        outcome, message = "refused", f"{type(error).__name__}: {error}"
    except Exception as error:  # any other exception is a fault
        outcome, message = "errors", f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - begin
    out, err = (after - was for after, was in zip(printed_bytes(), before, strict=True))
    return {
        "outcome": outcome,
        "message": message[:500],
        "failed": counter.failed > 0,
        "seconds": seconds,
        "out": out,
        "err": err,
    }


def printed_bytes() -> tuple[int, int]:
    """Return the sizes of stdout and stderr, which are files; output of C code is included."""
    sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)
    return os.fstat(1).st_size, os.fstat(2).st_size


if __name__ == "__main__":
    main()
