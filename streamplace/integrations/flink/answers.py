"""Checks of the answers of Flink's REST API."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamplace.errors import BackendError, FormatError, GraphError, located


@contextmanager
def expecting(where: str) -> Iterator[None]:
    """Raise BackendError if an answer does not have the format of Flink's answers."""
    try:
        with located(where, FormatError):
            yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        fault_text = f"{type(error).__name__}: {error}"
        raise BackendError(f"{where}: unexpected answer from Flink: {fault_text:.120}") from None
    except (FormatError, GraphError) as error:
        raise BackendError(str(error)) from None
