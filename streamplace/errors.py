"""What can go wrong, by whose fault it is. The command line turns these into exit codes."""

from collections.abc import Iterator
from contextlib import contextmanager


class StreamplaceError(Exception):
    """Anything streamplace raises on purpose; its text is one line for the user."""

    exit_code = 2


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


class UsageError(StreamplaceError):
    """A name or option that does not exist."""


class PlacementError(StreamplaceError):
    """A placer found no placement that obeys the constraints; there may be one."""

    exit_code = 1


class SimulationError(StreamplaceError):
    """A simulation failed. It has no score."""

    exit_code = 1


@contextmanager
def located(where: str, kind: type[StreamplaceError] | None = None) -> Iterator[None]:
    """Put `where` before what goes wrong in the block; `kind` is raised instead, if given."""
    try:
        yield
    except UsageError:
        raise
    except StreamplaceError as error:
        said = str(error)
        if not said.startswith(where):
            said = f"{where}: {said}"
        raise (kind or type(error))(said) from None
