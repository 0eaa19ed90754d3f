"""Faults in the code of users' policies, as one line."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamplace.errors import StreamplaceError
from streamplace.util.plugins import named_fault


@contextmanager
def faults_of(policy: object, activity: str) -> Iterator[None]:
    """Raise a UsageError for whatever the class of a user's policy raises meanwhile.

    Errors of streamplace, and those of its own policies, pass as they are.

    Parameters
    ----------
    activity
        A noun for the message, such as ``placing``.
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
