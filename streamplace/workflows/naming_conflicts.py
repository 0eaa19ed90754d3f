"""Errors of infeasible problems, with the rules that cannot hold together."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from streamplace.errors import StreamplaceError


@contextmanager
def naming_conflicts(whole_operators: Mapping[int, str] | None = None) -> Iterator[None]:
    """Add the rules that cannot hold together to the error of an infeasible problem.

    Parameters
    ----------
    whole_operators
        The colocation groups that an option adds, by which they are called; see `Conflict`.
    """
    try:
        yield
    except StreamplaceError as error:
        if error.infeasible is not None:
            from streamplace.workflows.conflict import add_conflict  # noqa: PLC0415 - needed for errors only

            add_conflict(error)
        if whole_operators and (found := error.fault.conflict) is not None:
            error.update(conflict=replace(found, whole_operators=whole_operators))
        raise
