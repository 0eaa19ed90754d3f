"""What can go wrong, by whose fault it is. The command line turns these into exit codes."""


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
