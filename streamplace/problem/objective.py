"""Objectives: the goals of placements, as data."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

from streamplace.errors import ProblemError
from streamplace.problem.makespan import Makespan
from streamplace.util.checks import check_number
from streamplace.util.suggest import did_you_mean

if TYPE_CHECKING:
    from sim.engine import Settings

Model = Literal["bottleneck", "path-average", "engine"]
MODELS: tuple[Model, ...] = get_args(Model)
MIN_VALUE, MAX_RATE = 1e-9, 1e15  # of rates (tuples/s) and shares; beyond them numbers overflow


@dataclass(frozen=True)
class Throughput:
    """The throughput objective: keep up with as much of the source rate as possible.

    `Throughput.of` is more convenient: it accepts one rate or several, in any order. Custom
    objectives derive from this class; the fields that they add are their options.

    Parameters
    ----------
    source_rates
        Tuples/s offered by all sources together; distinct rates in decreasing order. With several
        rates, one placement serves all of them, and its score is the lowest of its scores at these
        rates. None stands for the graph's own rate, which a `Problem` fills in.
    model
        Model that computes the throughput of a placement: ``bottleneck``, ``path-average`` or
        ``engine``.
    target_utilisation
        Share of every device and link that may be used, above 0 and at most 1. Throughput is
        computed as if devices and links had only this share of their capacity; reported
        utilisations refer to the full capacity.
    engine
        Settings of the engine for the model ``engine``; None stands for its defaults. Placement
        files do not store them.

    Attributes
    ----------
    evaluator
        The subclass of `ObjectiveEvaluator` that scores placements under a custom objective; None
        for the evaluator of the model.

    Raises
    ------
    ProblemError
        On an unknown model, or a rate or target utilisation that is out of range.
    """

    evaluator: ClassVar[type[Any] | None] = None

    source_rates: tuple[float, ...] | None = None
    model: Model = "bottleneck"
    target_utilisation: float = 1.0
    engine: "Settings | None" = None

    def __post_init__(self) -> None:
        if self.source_rates is not None:
            object.__setattr__(self, "source_rates", _checked_rates(_as_tuple(self.source_rates)))
        if self.model not in MODELS:
            wrong = f"model: must be one of {', '.join(MODELS)} (got {self.model!r})"
            raise ProblemError(wrong + did_you_mean(str(self.model), MODELS))
        check_number("target_utilisation:", self.target_utilisation, ProblemError)
        if not MIN_VALUE <= self.target_utilisation <= 1:
            allowed = f"must be {MIN_VALUE:g} to 1 (got {self.target_utilisation:g})"
            raise ProblemError(f"target_utilisation: {allowed}")
        object.__setattr__(self, "target_utilisation", float(self.target_utilisation))

    @classmethod
    def of(
        cls,
        source_rate: float | Iterable[float] | None = None,
        model: Model | None = None,
        target_utilisation: float | None = None,
    ) -> Self:
        """Return the objective for one source rate or several; None stands for the default.

        Raises
        ------
        ProblemError
            As the class does.
        """
        return cls(
            None if source_rate is None else _as_tuple(source_rate),
            model or "bottleneck",
            1.0 if target_utilisation is None else target_utilisation,
        )

    def with_changes(
        self,
        source_rate: float | Iterable[float] | None = None,
        model: Model | None = None,
        target_utilisation: float | None = None,
    ) -> Self:
        """Return the objective with other values; None keeps a value."""
        target = self.target_utilisation if target_utilisation is None else target_utilisation
        rates = self.source_rates if source_rate is None else _as_tuple(source_rate)
        return replace(
            self, source_rates=rates, model=model or self.model, target_utilisation=target
        )

    @property
    def source_rate(self) -> float:
        """The highest source rate, in tuples/s.

        Raises
        ------
        ProblemError
            If the objective has no source rate. The objective of a `Problem` always has one.
        """
        if self.source_rates is None:
            raise ProblemError("source_rate: the objective has no source rate; a Problem sets it")
        return self.source_rates[0]


Objective = Throughput | Makespan
"""The goal of a placement. `scoring.registry` has an evaluator for each class."""


def check_objective(objective: object) -> None:
    """Refuse a value that is not an objective.

    Raises
    ------
    ProblemError
        If it is not an instance of `Throughput` or `Makespan`.
    """
    if not isinstance(objective, Throughput | Makespan):
        got = type(objective).__name__
        instead = "for example sp.Throughput.of(2e4) or sp.Makespan()"
        raise ProblemError(f"objective: must be Throughput or Makespan, not {got}; {instead}")


def without_axes(value: Any) -> Any:
    """Return the number in an array without axes, such as ``np.array(1e4)``; else the value."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def _as_tuple(source_rate: float | Iterable[float]) -> tuple[float, ...]:
    """Return one rate or several as a tuple; text is one rate, which `_checked_rates` refuses."""
    source_rate = without_axes(source_rate)
    several = isinstance(source_rate, Iterable) and not isinstance(source_rate, str)
    return tuple(source_rate) if several else (source_rate,)  # type: ignore[arg-type,return-value]


def _checked_rates(rates: tuple[float, ...]) -> tuple[float, ...]:
    """Return distinct source rates in decreasing order."""
    for rate in rates:
        check_number("source_rate:", rate, ProblemError)
    ordered = sorted({float(rate) for rate in rates}, reverse=True)
    if not ordered:
        raise ProblemError("source_rate: expected at least one rate (got none)")
    for rate in ordered:
        if not MIN_VALUE <= rate <= MAX_RATE:
            allowed = f"must be {MIN_VALUE:g} to {MAX_RATE:g} (got {rate:g})"
            raise ProblemError(f"source_rate: {allowed}")
    return tuple(ordered)
