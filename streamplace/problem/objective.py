"""Objectives: what a placement is to achieve, as data."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

from streamplace.errors import ProblemError
from streamplace.util.checks import check_number, check_type
from streamplace.util.suggest import did_you_mean

if TYPE_CHECKING:
    from sim.engine import Settings

Model = Literal["bottleneck", "path-average", "engine"]
MODELS: tuple[Model, ...] = get_args(Model)
SMALLEST, LARGEST = 1e-9, 1e15  # of rates and shares: beyond lies arithmetic that overflows


@dataclass(frozen=True)
class Throughput:
    """The throughput of an endless stream: as many tuples/s as are offered.

    `Throughput.of` takes what people write: one rate or several, in any order. Objectives of users
    derive from it; the fields that they add are their options.

    Parameters
    ----------
    source_rates
        Offered tuples/s over all sources, each rate once, from the highest down. With several
        rates, one placement is sought for all, and its score is that at the worst of them. None:
        the graph's own rate, which a `Problem` fills in.
    model
        How throughput follows from a placement: ``bottleneck``, ``path-average`` or ``engine``.
    target_utilisation
        The share of every device and link that may be used, above 0 and at most 1: throughput is
        as if they had no more. Reported utilisations are those of the whole device or link.
    engine
        How the engine runs under ``engine``; None: its default settings. Placement files hold none.

    Attributes
    ----------
    evaluator
        The class that scores placements under an objective of a user's own, an
        `ObjectiveEvaluator`; None: that of the model.

    Raises
    ------
    ProblemError
        On a rate, a model or a share that is out of range.
    """

    evaluator: ClassVar[type[Any] | None] = None

    source_rates: tuple[float, ...] | None = None
    model: Model = "bottleneck"
    target_utilisation: float = 1.0
    engine: "Settings | None" = None

    def __post_init__(self) -> None:
        if self.source_rates is not None:
            object.__setattr__(self, "source_rates", _checked_rates(_several(self.source_rates)))
        if self.model not in MODELS:
            wrong = f"model: must be one of {', '.join(MODELS)} (got {self.model!r})"
            raise ProblemError(wrong + did_you_mean(str(self.model), MODELS))
        check_number("target_utilisation:", self.target_utilisation, ProblemError)
        if not SMALLEST <= self.target_utilisation <= 1:
            allowed = f"must be {SMALLEST:g} to 1 (got {self.target_utilisation:g})"
            raise ProblemError(f"target_utilisation: {allowed}")
        object.__setattr__(self, "target_utilisation", float(self.target_utilisation))

    @classmethod
    def of(
        cls,
        source_rate: float | Iterable[float] | None = None,
        model: Model | None = None,
        target_utilisation: float | None = None,
    ) -> Self:
        """Return the objective with one source rate or several; None stands for the default.

        Raises
        ------
        ProblemError
            As the class does.
        """
        return cls(
            None if source_rate is None else _several(source_rate),
            model or "bottleneck",
            1.0 if target_utilisation is None else target_utilisation,
        )

    def with_changes(
        self,
        source_rate: float | Iterable[float] | None = None,
        model: Model | None = None,
        target_utilisation: float | None = None,
    ) -> Self:
        """Return the objective with other values; None keeps what this one has."""
        most = self.target_utilisation if target_utilisation is None else target_utilisation
        rates = self.source_rates if source_rate is None else _several(source_rate)
        return replace(self, source_rates=rates, model=model or self.model, target_utilisation=most)

    @property
    def source_rate(self) -> float:
        """The highest source rate.

        Raises
        ------
        ProblemError
            If the objective has none, as one that is not of a problem may not.
        """
        if self.source_rates is None:
            raise ProblemError("source_rate: the objective has none, so the graph's own applies")
        return self.source_rates[0]


Objective = Throughput
"""What a placement is to achieve. `scoring.evaluator` has an evaluator for each class."""


def check_objective(objective: object) -> None:
    """Refuse a value that is no objective.

    Raises
    ------
    ProblemError
        If it is none.
    """
    check_type("objective:", objective, Throughput, ProblemError, "as sp.Throughput.of(2e4)")


def _several(source_rate: float | Iterable[float]) -> tuple[float, ...]:
    """Return one rate or several as a tuple; text is left to the check of numbers."""
    several = isinstance(source_rate, Iterable) and not isinstance(source_rate, str)
    return tuple(source_rate) if several else (source_rate,)  # type: ignore[arg-type,return-value]


def _checked_rates(rates: tuple[float, ...]) -> tuple[float, ...]:
    """Return source rates, each once, from the highest down."""
    for rate in rates:
        check_number("source_rate:", rate, ProblemError)
    ordered = sorted({float(rate) for rate in rates}, reverse=True)
    if not ordered:
        raise ProblemError("source_rate: none is given")
    for rate in ordered:
        if not SMALLEST <= rate <= LARGEST:
            allowed = f"must be {SMALLEST:g} to {LARGEST:g} (got {rate:g})"
            raise ProblemError(f"source_rate: {allowed}")
    return tuple(ordered)
