"""Exit codes of the commands of benchmarks, whose faults are one line."""

import sys
from collections.abc import Callable

from streamplace.errors import StreamplaceError

INTERRUPTED = 130


def exit_code(
    work: Callable[[], int | None], *, name: str, others: tuple[type[Exception], ...] = ()
) -> int:
    """Do the work of a command; print a fault as one line, and return the exit code.

    Parameters
    ----------
    work
        What the command does; it returns the exit code, or None for 0.
    name
        Name of the command, with which a fault begins.
    others
        Errors that are no `StreamplaceError`; their exit code is 1.
    """
    try:
        return work() or 0
    except StreamplaceError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return error.exit_code
    except others as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
