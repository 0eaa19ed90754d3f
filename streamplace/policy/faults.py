"""One-line errors for exceptions from user-defined policies."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamplace.errors import StreamplaceError
from streamplace.util.plugins import named_fault


@contextmanager
def faults_of(policy: object, activity: str) -> Iterator[None]:
    """Convert exceptions from a user-defined policy into a UsageError.

    A `StreamplaceError`, and any exception from a built-in policy, propagates unchanged.

    Parameters
    ----------
    activity
        A noun for the message, such as ``placing``.

    Raises
    ------
    UsageError
        If the code of a user-defined policy raises an exception.
    MemoryError
        If it runs out of memory.
    """
    cls = type(policy)
    try:
        yield
    except StreamplaceError:
        raise
    except (Exception, SystemExit):
        if cls.__module__.startswith("streamplace."):
            raise
        with named_fault("policy", f"{cls.__module__}:{cls.__qualname__}", f"{activity} failed"):
            raise
