"""Exceptions, one class per kind of fault."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar


class StreamplaceError(Exception):
    """The base class of all exceptions that streamplace raises; the message is one line.

    Attributes
    ----------
    exit_code
        Exit code of the command line.
    needs_file
        Whether `located` puts a file's name before the message; False if the message already names
        the file, or if the fault is not in a file.
    infeasible
        Graph, cluster and constraints of a problem without a feasible placement, from which
        `workflows.conflict` finds the rules that cannot hold together; None for other faults, and
        if the message names these rules.
    """

    exit_code = 2
    needs_file = True
    infeasible: tuple[Any, Any, Any] | None = None

    def __str__(self) -> str:
        return " ".join(super().__str__().splitlines())  # file names may contain newlines


Error = TypeVar("Error", bound=StreamplaceError)


class GraphError(StreamplaceError):
    """An invalid stream graph: cycles, unknown endpoints or impossible numbers."""


class ClusterError(StreamplaceError):
    """An invalid cluster."""


class ProblemError(StreamplaceError):
    """A graph, cluster, source rate and constraints that do not fit together."""


class RuleDeviceError(ProblemError):
    """A constraint with a device that the cluster lacks; either may be wrong."""


class InfeasibleError(StreamplaceError):
    """A problem for which it is proven that no placement satisfies the constraints."""


class FormatError(StreamplaceError):
    """A file with invalid content; the message names the file and the place in it."""

    needs_file = False


class OtherGraphError(FormatError):
    """A placement file of another graph; either file may be the wrong one."""

    needs_file = True


class UnknownDeviceError(FormatError, ProblemError):
    """An assignment to a device that the cluster lacks; either file may be the wrong one."""

    needs_file = True


class UsageError(StreamplaceError):
    """An unknown name or option, or an invalid combination of options."""

    needs_file = False  # the fault is not in a file


class UnknownPinError(UsageError, RuleDeviceError):
    """A pin of the command line to a device that the cluster lacks."""

    needs_file = False


class UnsuitableError(UsageError):
    """A problem that a placer does not support, whatever its constraints."""

    needs_file = True


class ObjectiveError(UnsuitableError):
    """An objective that a placer does not support, although others do."""

    needs_file = False  # the fault is in the options


class CustomPlacerError(UsageError):
    """A placer of the user's own that fails, or returns no valid placement."""

    needs_file = True


class ConfigError(StreamplaceError):
    """An invalid training configuration; the message names the file."""

    needs_file = False


class CheckpointError(StreamplaceError):
    """Weights or a checkpoint that cannot be used; the message names the file."""

    needs_file = False


class TrainingError(StreamplaceError):
    """Training that cannot continue."""

    exit_code = 1


class BackendError(StreamplaceError):
    """A Ray or Dask cluster, or another server, that does not answer or has failed."""

    exit_code = 1
    needs_file = False  # the fault is not in a file


class PlacementError(StreamplaceError):
    """A placer found no placement that satisfies the constraints, although one may exist."""

    exit_code = 1


class SimulationError(StreamplaceError):
    """A simulation that failed, and has no score."""

    exit_code = 1


@contextmanager
def located(
    file: str | None,
    kind: type[StreamplaceError] | None = None,
    *,
    only: type[StreamplaceError] = StreamplaceError,
) -> Iterator[None]:
    """Put a file's name before the message of an error raised in the block, unless it needs none.

    Parameters
    ----------
    file
        None: errors are raised as they are.
    kind
        Class of the exception to raise instead; None: the class of the original error.
    only
        Class of the errors that are faults of this file; others are raised as they are.
    """
    try:
        yield
    except only as error:
        if file is None or not error.needs_file:
            raise
        named = reworded(error, f"{file}: {error}")
        if kind and not isinstance(error, kind):
            named = kind(str(named))
            named.infeasible = error.infeasible
        named.needs_file = False
        raise named from None


@contextmanager
def within(place: str) -> Iterator[None]:
    """Put a place inside a file before the message of an error raised in the block."""
    try:
        yield
    except StreamplaceError as error:
        if not error.needs_file:
            raise
        raise reworded(error, f"{place}: {error}") from None


def reworded(error: Error, message: str) -> Error:
    """Return the same error with another message."""
    changed = type(error)(message)
    vars(changed).update(vars(error))
    return changed
