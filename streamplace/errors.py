"""Exceptions, by whose fault they are. The command line turns them into exit codes."""

from collections.abc import Iterator
from contextlib import contextmanager


class StreamplaceError(Exception):
    """Anything streamplace raises on purpose; its text is one line for the user.

    Attributes
    ----------
    exit_code
        What the command line ends with.
    names_file
        Whether the text names the file, or whatever else the fault is in; see `located`.
    """

    exit_code = 2
    names_file = False

    def __str__(self) -> str:
        return " ".join(super().__str__().splitlines())  # names of files may have new lines


class GraphError(StreamplaceError):
    """A stream graph that is none: cycles, unknown endpoints, impossible numbers."""


class ClusterError(StreamplaceError):
    """A cluster that is none."""


class ProblemError(StreamplaceError):
    """A graph, cluster, source rate and constraints that do not belong together."""


class InfeasibleError(StreamplaceError):
    """It is proven that no placement obeys the constraints."""


class FormatError(StreamplaceError):
    """A file that is not what it should be. Names the file and the place in it."""

    names_file = True


class OtherGraphError(FormatError):
    """A file that belongs to another graph: this one or that may be the wrong one."""

    names_file = False


class UnknownDeviceError(FormatError, ProblemError):
    """An assignment to a device that the cluster lacks: either may be the wrong one."""

    names_file = False


class UsageError(StreamplaceError):
    """A name or option that does not exist."""

    names_file = True  # there is none


class UnsuitableError(UsageError):
    """A problem that a placer does not place, whatever its constraints."""

    names_file = False


class ConfigError(StreamplaceError):
    """A training config that is none. Names the file."""

    names_file = True


class CheckpointError(StreamplaceError):
    """Weights or a checkpoint that cannot be used. Names the file."""

    names_file = True


class TrainingError(StreamplaceError):
    """Training cannot go on."""

    exit_code = 1


class BackendError(StreamplaceError):
    """A cluster does not answer, or has failed."""

    exit_code = 1
    names_file = True  # it has nothing to do with one


class PlacementError(StreamplaceError):
    """A placer found no placement that obeys the constraints; there may be one."""

    exit_code = 1


class SimulationError(StreamplaceError):
    """A simulation failed. It has no score."""

    exit_code = 1


@contextmanager
def located(file: str, kind: type[StreamplaceError] | None = None) -> Iterator[None]:
    """Name the file of what goes wrong in the block, unless it is named; raise a `kind`, if any."""
    try:
        yield
    except StreamplaceError as error:
        if error.names_file:
            raise
        wanted = kind if kind and not isinstance(error, kind) else type(error)
        named = wanted(f"{file}: {error}")
        named.names_file = True
        raise named from None


@contextmanager
def within(place: str) -> Iterator[None]:
    """Put a place inside a file before what goes wrong in the block."""
    try:
        yield
    except StreamplaceError as error:
        if error.names_file:
            raise
        raise type(error)(f"{place}: {error}") from None
