"""A process that gives problems to one wrapper and says of each what came of it.

    python -m benchmarks.hardening.solvers.child WRAPPER SEED FIRST LAST ANSWERS

ANSWERS is a file descriptor: a line before each problem and one after it, so that whoever reads
them knows which problem a process ended with.
"""

import ctypes
import json
import os
import sys
import time
from typing import Any

from benchmarks.hardening.solvers.wrappers import Try, of_name
from streamplace.errors import StreamplaceError


def main() -> None:
    """Go through the problems from FIRST up to LAST."""
    name, *numbers = sys.argv[1:]
    seed, first, last, answers = map(int, numbers)
    attempt = made(name)
    with os.fdopen(answers, "w", buffering=1) as told:
        for number in range(first, last):
            print(json.dumps({"begins": number}), file=told)
            print(json.dumps(tried(attempt, number, seed)), file=told)


def made(name: str) -> Try:
    """Return a wrapper, or ``module:function`` in its place."""
    module, colon, function = name.partition("::")
    if not colon:
        return of_name(name)
    found: Try = getattr(__import__(module, fromlist=[function]), function)
    return found


def tried(attempt: Try, number: int, seed: int) -> dict[str, Any]:
    """Return what came of a problem: placed, refused, invalid or an error; and what was printed."""
    before, begin = written(), time.perf_counter()
    came, said = "placed", ""
    try:
        if (wrong := attempt(number, seed)) is not None:
            came, said = "invalid", wrong
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
