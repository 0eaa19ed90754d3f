"""Exceptions, one class per kind of fault."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Fault:
    """What an error says, in parts, of which `str` makes the message.

    Parameters
    ----------
    what
        What is wrong; alone, it is the whole message.
    origin
        The file, address or option in which it is; empty: not known, or part of `what`.
    place
        Where in it, or which part of the program says so; outermost first.
    option
        The argument, field or key that is wrong, for which a command may have an option.
    remedy
        What to do.
    operators
        Names of the operators concerned, whose own rules `workflows.conflict` tries first.
    of_constraints
        Whether the constraints are wrong rather than the graph; they may have a file of their own.
    conflict
        The rules that cannot hold together, a `workflows.conflict.Conflict`; None if not known.
    """

    what: str = ""
    origin: str = ""
    place: tuple[str, ...] = ()
    option: str = ""
    remedy: str = ""
    operators: tuple[str, ...] = ()
    of_constraints: bool = False
    conflict: Any = None

    def without(self, place: str) -> "Fault":
        """Return the fault without a place, such as a command that was not run."""
        return replace(self, place=tuple(each for each in self.place if each != place))

    def __str__(self) -> str:
        stated = ": ".join(filter(None, (self.origin, *self.place, self.option, self.what)))
        conflict = "" if self.conflict is None else str(self.conflict)
        return "; ".join(filter(None, (stated, conflict, self.remedy)))


class StreamplaceError(Exception):
    """The base class of all exceptions that streamplace raises; the message is one line.

    Its only argument is the message, or its parts as a `Fault`.

    Attributes
    ----------
    exit_code
        Exit code of the command line.
    needs_file
        Whether `located` states a file as the origin; False if `what` already names the file, or if
        the fault is not in a file.
    infeasible
        Graph, cluster and constraints of a problem without a feasible placement, from which
        `workflows.conflict` finds the rules that cannot hold together; None for other faults, and
        if the fault has these rules.
    """

    exit_code = 2
    needs_file = True
    infeasible: tuple[Any, Any, Any] | None = None
    _fault: Fault | None = None

    def __str__(self) -> str:
        return " ".join(str(self.fault).splitlines())  # file names may contain newlines

    @property
    def fault(self) -> Fault:
        """The parts of the message; made when asked for, as searches raise and drop many errors."""
        if self._fault is not None:
            return self._fault
        what = self.args[0] if self.args else ""
        return what if isinstance(what, Fault) else Fault(str(what))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    @property
    def needs_origin(self) -> bool:
        """Whether the message does not say yet in which file or option the fault is."""
        return self.needs_file and not self.fault.origin

    def update(self, **parts: Any) -> None:
        """Change some parts of the fault."""
        self._fault = replace(self.fault, **parts)

    def put(self, place: str) -> None:
        """Put a place before all others, and before the origin."""
        if self.fault.origin:
            self.update(origin=f"{place}: {self.fault.origin}")
        else:
            self.update(place=(place, *self.fault.place))

    def advise(self, remedy: str) -> None:
        """Add what to do to the end of the message."""
        self.update(remedy="; ".join(filter(None, (self.fault.remedy, remedy))))


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
    constraints: str | None = None,
    remedy: str = "",
) -> Iterator[None]:
    """State a file as the origin of an error raised in the block, unless it needs none.

    Parameters
    ----------
    file
        None: errors keep their origins.
    kind
        Class of the exception to raise instead; None: the class of the original error.
    only
        Class of the errors that are faults of this file; others are raised as they are.
    constraints
        The file at fault if the constraints are; None: also `file`.
    remedy
        What else to do.
    """
    try:
        yield
    except only as error:
        if remedy:
            error.advise(remedy)
        if file is None or not error.needs_origin:
            raise
        conflict = error.fault.conflict
        of_rules = error.fault.of_constraints or (conflict and conflict.of_constraints)
        error.update(origin=constraints if constraints is not None and of_rules else file)
        if kind is None or isinstance(error, kind):
            raise
        changed = kind(error.fault)
        changed.infeasible = error.infeasible
        raise changed from None


@contextmanager
def within(place: str) -> Iterator[None]:
    """Add a place to an error raised in the block, before those inside of it."""
    try:
        yield
    except StreamplaceError as error:
        if error.needs_origin:
            error.put(place)
        raise
