"""Users' measurements of running times: ``module:Class``, or a name that a package registers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from streamplace.errors import TrainingError, UsageError
from streamplace.learning.training.stages import Stage, measured_stages
from streamplace.problem.problem import Problem
from streamplace.util import plugins
from streamplace.util.arrays import Floats, Ints

GROUP = "streamplace.measures"
NOUN = "measure"


class Measure(Protocol):
    """Measures how long placements take on a real system, or on anything else that runs them.

    An instance may also have a method ``close()``, which is called when the run ends, even after an
    error or an interruption.
    """

    def __call__(self, problem: Problem, placements: Ints, /) -> Floats:
        """Return the seconds that each of K placements takes, (K,), from device indices, (K, V)."""
        ...


@dataclass(frozen=True)
class NamedMeasure:
    """A measure and the name under which files and messages refer to it."""

    name: str
    measure: Measure


def measure_names() -> list[str]:
    """Return the names that installed packages register."""
    return plugins.names_of(GROUP, ())


def check_name(text: str) -> None:
    """Check a name that a file contains; make nothing.

    Raises
    ------
    UsageError
        If no installed package registers it, or it is ``module:Class``, which no file may name.
    """
    _find(text, from_file=True)


@contextmanager
def opened(measure: str | Measure, *, from_file: bool = False) -> Iterator[NamedMeasure]:
    """Make the measure that a text names, and close it at the end; an object is left open.

    Parameters
    ----------
    measure
        ``module:Class`` or the name of an entry point, perhaps with options, or an object.
    from_file
        Whether the text comes from a file. Modules that only a file names are not imported.

    Raises
    ------
    UsageError
        If it cannot be made, or is not called as a `Measure` is.
    TrainingError
        If it cannot be closed; after another error, that one is raised.
    """
    if not isinstance(measure, str):
        name = _name_of(measure)
        yield NamedMeasure(name, _checked(name, measure))
        return
    loaded, options = _find(measure, from_file)
    made: object = plugins.made(measure, loaded, options, NOUN)
    try:
        yield NamedMeasure(measure, _checked(measure, made))
    except BaseException:
        with suppress(TrainingError):  # what came first says more
            _close(measure, made)
        raise
    _close(measure, made)


def _close(text: str, made: object) -> None:
    """Call the method `close` of a measure, if it has one."""
    close = getattr(made, "close", None)
    if close is None:
        return
    try:
        with plugins.named_fault(NOUN, text, "closing it failed"):
            close()
    except UsageError as error:  # the work failed; the command was right
        raise TrainingError(str(error)) from error


def _find(text: str, from_file: bool) -> tuple[Any, list[str]]:
    """Return the object of a name, and its options."""
    if not plugins.is_custom(text) and not measure_names():
        instead = "" if from_file else "; name your own as module:Class"
        raise UsageError(f"unknown {NOUN} {text!r}: no installed package registers one{instead}")
    return plugins.find(text, NOUN, GROUP, (), from_file=from_file)


def _checked(text: str, found: object) -> Measure:
    plugins.check_call(text, found, NOUN, ("problem", "placements"))
    measure: Measure = found  # type: ignore[assignment]  # as far as can be checked
    return measure


def _name_of(measure: object) -> str:
    named = measure if hasattr(measure, "__qualname__") else type(measure)
    return f"{named.__module__}:{named.__qualname__}"


@contextmanager
def measuring(
    stages: Sequence[Stage],
    measure: str | Measure | None,
    *,
    from_config: str | None = None,
    processes: int = 1,
) -> Iterator[NamedMeasure | None]:
    """Make the measure of a run, and close it at the end; None if no stage measures.

    Parameters
    ----------
    measure
        The measure that the user named or passed; see `opened`.
    from_config
        The name in the config, which counts if there is no other.
    processes
        Number of processes of the run.

    Raises
    ------
    UsageError
        If a stage measures and there is no measure or several processes, if there is a measure
        and no stage measures, or if the measure cannot be made.
    TrainingError
        If it cannot be closed.
    """
    if not (numbers := measured_stages(stages)):
        if measure is not None:
            raise UsageError("measure: no stage measures; set the key measurements of a stage")
        yield None
        return
    place = f"stage[{numbers[0]}].measurements"
    if measure is None and from_config is None:
        remedy = "name a measure with --measure MODULE:CLASS, or pass one as measure"
        raise UsageError(f"{place}: nothing to measure with; {remedy}")
    if processes > 1:
        remedy = "train without torchrun"
        raise UsageError(f"{place}: only one process may measure (got {processes}); {remedy}")
    named = from_config if measure is None else measure
    assert named is not None, "checked above"
    with opened(named, from_file=measure is None) as made:
        yield made


def with_full_runs(problem: Problem) -> Problem:
    """Return a problem that the engine scores with full-length runs; rewards use shorter ones."""
    return problem.with_objective(problem.objective.with_engine(None))
