"""The measure of a run: whether its stages need one, and its opening and closing."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from streamplace.errors import UsageError
from streamplace.training.measuring.measure import Measure, NamedMeasure, opened
from streamplace.training.stages import Stage, measured_stages


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
