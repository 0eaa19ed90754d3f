"""A process that gives problems to one wrapper and says of each what came of it.

    python -m benchmarks.hardening.solvers.child WRAPPER SEED FIRST COUNT ANSWERS

ANSWERS is a file descriptor: a line before each problem and one after it, so that whoever reads
them knows which problem a process ended with.
"""

import ctypes
import json
import os
import sys
import time
from typing import Any

from benchmarks.hardening.solvers.jobs import NoJobError
from benchmarks.hardening.solvers.parent import NOT_GIVEN
from benchmarks.hardening.solvers.wrappers import Try, of_name
from streamplace.errors import StreamplaceError


def main() -> None:
    """Go through the problems from FIRST on until COUNT have been given to the wrapper."""
    name, *numbers = sys.argv[1:]
    seed, number, left, answers = map(int, numbers)
    attempt = made(name)
    with os.fdopen(answers, "w", buffering=1) as told:
        while left:
            print(json.dumps({"begins": number}), file=told)
            answer = tried(attempt, number, seed)
            print(json.dumps(answer), file=told)
            left -= answer["came"] != NOT_GIVEN
            number += 1


def made(name: str) -> Try:
    """Return a wrapper, or ``module:function`` in its place."""
    module, colon, function = name.partition("::")
    if not colon:
        return of_name(name)
    found: Try = getattr(__import__(module, fromlist=[function]), function)
    return found


def tried(attempt: Try, number: int, seed: int) -> dict[str, Any]:
    """Return what came of a problem: placed, refused, invalid, an error; and what was printed."""
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
    return {"came": came, "said": said[:500], "seconds": seconds, "out": out, "err": err}


def written() -> tuple[int, int]:
    """Return bytes on stdout and stderr so far, those of C code too: both are files."""
    sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)
    return os.fstat(1).st_size, os.fstat(2).st_size


if __name__ == "__main__":
    main()
