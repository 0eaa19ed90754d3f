"""Solvers with one fault each; child processes find them by name."""

import os
import signal
import sys
import time

from benchmarks.hardening.campaigns.solvers.unusual_problems import NoProblemError
from streamplace.errors import PlacementError

BAD = 3
"""The number of the problem at which the fault occurs."""
SLOW_S = 6.0


def library(fails: bool = False) -> None:
    """Stand in for the library of a solver, whose calls are counted."""
    if fails:
        raise RuntimeError("bad input")


def aborts(number: int, seed: int) -> str | None:
    library()
    if number == BAD:
        os.abort()
    return None


def exits(number: int, seed: int) -> str | None:
    """End the process, like a library that calls `exit`."""
    library()
    if number == BAD:
        os._exit(0)
    return None


def is_killed(number: int, seed: int) -> str | None:
    library()
    if number == BAD:
        os.kill(os.getpid(), signal.SIGSEGV)
    return None


def ends_badly(number: int, seed: int) -> str | None:
    """Make the end of the process fail."""
    library()
    import atexit  # noqa: PLC0415

    if number == BAD:
        atexit.register(os._exit, 7)
    return None


def prints(number: int, seed: int) -> str | None:
    library()
    if number == BAD:
        os.write(1, b"a complaint\n")  # past sys.stdout, as C does
    return None


def complains(number: int, seed: int) -> str | None:
    library()
    if number == BAD:
        os.write(2, b"a complaint\n")
    return None


def hangs(number: int, seed: int) -> str | None:
    library()
    if number == BAD:
        time.sleep(3600)
    return None


def computes(number: int, seed: int) -> str | None:
    library()
    while number == BAD:
        pass
    return None


def raises(number: int, seed: int) -> str | None:
    library()
    if number == BAD:
        raise ZeroDivisionError("by nothing")
    return None


def refuses(number: int, seed: int) -> str | None:
    library()
    if number == BAD:
        raise PlacementError("found none")
    return None


def draws_no_problem(number: int, seed: int) -> str | None:
    if number == BAD:
        raise NoProblemError("a cycle")
    library()
    return None


def refuses_before_the_call(number: int, seed: int) -> str | None:
    if number == BAD:
        raise PlacementError("weights are too large")
    library()
    return None


def places_without_the_library(number: int, seed: int) -> str | None:
    if number != BAD:
        library()
    return None


def never_calls(number: int, seed: int) -> str | None:
    return None


def reports_failure(number: int, seed: int) -> str | None:
    """Turn an exception of the library into a streamplace error."""
    try:
        library(fails=number == BAD)
    except RuntimeError as error:
        raise PlacementError(f"the library failed: {error}") from None
    return None


def places_none(number: int, seed: int) -> str | None:
    library()
    raise PlacementError("found none")


def places_wrongly(number: int, seed: int) -> str | None:
    library()
    return "an operator is nowhere" if number == BAD else None


def never_starts(number: int, seed: int) -> str | None:
    library()
    return None


if sys.argv[1:2] == ["tests.support.hardening.faulty_solvers::never_starts"]:
    raise ImportError("no such library")
