"""Faults in the code of users' policies, as one line."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamplace.errors import StreamplaceError, UsageError


@contextmanager
def faults_of(policy: object, activity: str) -> Iterator[None]:
    """Raise a UsageError for whatever the class of a user's policy raises meanwhile.

    Errors of streamplace, and those of its own policies, pass as they are.

    Parameters
    ----------
    activity
        A noun for the message, such as ``placing``.
    """
    try:
        yield
    except (StreamplaceError, MemoryError):
        raise
    except Exception as error:
        cls = type(policy)
        if cls.__module__.startswith("streamplace."):
            raise
        message = " ".join(str(error).split())
        fault = f"{activity} failed: {type(error).__name__}: {message}"
        raise UsageError(f"policy {cls.__module__}:{cls.__qualname__}: {fault}") from error
