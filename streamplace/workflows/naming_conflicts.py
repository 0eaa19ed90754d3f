"""Errors of infeasible problems, with the rules that cannot hold together."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamplace.errors import StreamplaceError


@contextmanager
def naming_conflicts() -> Iterator[None]:
    """Name the rules that cannot hold together in the error of an infeasible problem."""
    try:
        yield
    except StreamplaceError as error:
        if error.infeasible is None:
            raise
        from streamplace.workflows.conflict import named  # noqa: PLC0415 - needed for errors only

        raise named(error) from None
