"""Objectives: the goals of placements, as data."""

from abc import ABC
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

from streamplace.display.text import number
from streamplace.errors import Fault, ProblemError
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.util.checks import check_number
from streamplace.util.plugins import load_ours
from streamplace.util.suggest import did_you_mean

if TYPE_CHECKING:
    from streamplace.sim.engine import Settings

Model = Literal["bottleneck", "path-average", "engine"]
MODELS: tuple[Model, ...] = get_args(Model)
MIN_VALUE, MAX_RATE = 1e-9, 1e15  # of rates (tuples/s) and shares; beyond them numbers overflow
HOW_TO_SET_RATE = "set it with --source-rate, or source_rate= in Python"
HOW_TO_CHOOSE_MAKESPAN = (  # for graphs whose operators start once all their inputs are there
    "for the time of one pass use --objective makespan, or objective=sp.Makespan() in Python; "
    "for throughput "
)


@dataclass(frozen=True)
class Objective(ABC):  # noqa: B024 - it is for classes to derive from
    """The goal of a placement, as data; its members say what other code has to know about it.

    Attributes
    ----------
    quantity
        What a score measures, in words: ``throughput``, ``makespan``, ….
    unit
        The unit of a score; empty for numbers without one.
    higher_is_better
        Whether the better of two scores is the higher one.
    has_rates
        Whether a score is about a stream of tuples at source rates.
    is_pass
        Whether a score is about one pass through the graph, which has a schedule.
    follows_loads
        Whether nothing but the loads of devices and links decides about a score.
    compared
        The placers that `compare` runs if none are named.
    reference
        The placer with which `compare` sets others against under throughput and makespans.
    remedy
        What to do where a placer does not support the objective.
    evaluator
        The class of the evaluator that scores placements, where a user's objective has one of its
        own; None: the function ``evaluator`` makes it.
    functions
        Task -> the function that does it under the objective, as ``module:function``; see
        `function`. All have ``evaluator``, ``result``, ``explain`` and ``measure`` (of `compare`).
        Without one of the others, the placer or command does what serves all objectives, or refuses
        this one: ``report``, ``compiled`` (arrays of a problem), ``fast`` (a start for others),
        ``climb``, ``search``, ``exact``, ``auto``, ``climbed`` (what `auto` does where it only
        climbs) and ``migrate``.
    """

    quantity: ClassVar[str] = "value"
    unit: ClassVar[str] = ""
    higher_is_better: ClassVar[bool] = False
    has_rates: ClassVar[bool] = False
    is_pass: ClassVar[bool] = False
    follows_loads: ClassVar[bool] = False
    compared: ClassVar[tuple[str, ...]] = ("random", "climb")
    reference: ClassVar[str | None] = None
    remedy: ClassVar[str] = "use auto, climb or random"
    evaluator: ClassVar[type[Any] | None] = None
    functions: ClassVar[Mapping[str, str]] = {
        "evaluator": "streamplace.scoring.values:evaluator_for_values",
        "explain": "streamplace.workflows.explain:explain_values",
        "fast": "streamplace.placers.starting:best_of_simple",
        "measure": "streamplace.workflows.ratios:RatioMeasure",
        "result": "streamplace.workflows.value_result:value_result",
    }

    def function(self, task: str) -> Any:
        """Return the function that does a task under the objective; None if there is none."""
        return loaded(self.functions[task]) if task in self.functions else None

    @property
    def value_key(self) -> str:
        """The name of a score's value in JSON."""
        return "value"

    @property
    def rates(self) -> tuple[float, ...]:
        """The source rates in tuples/s, in decreasing order; empty if there are none."""
        return ()

    @property
    def needs_rate(self) -> bool:
        """Whether the objective needs a source rate and has none."""
        return False

    def with_changes(
        self,
        source_rate: float | Iterable[float] | None = None,
        model: Model | None = None,
        target_utilisation: float | None = None,
    ) -> Self:
        """Return the objective with other parameters of `Throughput`; None keeps a value.

        Raises
        ------
        ProblemError
            If one is not None and the objective has none of them.
        """
        settings = {"source rate": source_rate, "model": model}
        settings["target utilisation"] = target_utilisation
        for name, value in settings.items():
            if value is not None:
                raise ProblemError(f"objective: a {self.quantity} has no {name}; leave it out")
        return self

    def with_stored(
        self, rates: tuple[float, ...], model: Model, target_utilisation: float
    ) -> Self:
        """Return the objective with the parameters of a placement file, if it has any."""
        return self

    def with_engine(self, settings: "Settings | None") -> Self:
        """Return the objective with settings of the engine, if it can use the engine."""
        return self

    def without_settings(self) -> Self:
        """Return the objective with default values of what is not an option of its name."""
        return self

    def with_rates_of(self, other: "Objective") -> Self:
        """Return the objective with the source rates of another, if it needs them."""
        return self.with_changes(other.rates) if self.needs_rate and other.rates else self

    def for_graph(self, graph: StreamGraph) -> Self:
        """Return the objective with a graph's source rate, if it needs one.

        Raises
        ------
        ProblemError
            If the graph has none.
        """
        if not self.needs_rate:
            return self
        if graph.source_rate is None:
            aim = HOW_TO_CHOOSE_MAKESPAN if graph.firing == "all" else ""
            fault = "the graph has no source rate"
            raise ProblemError(Fault(fault, option="source_rate", remedy=aim + HOW_TO_SET_RATE))
        return self.with_changes(graph.source_rate)

    def fault_of(self, cluster: Cluster) -> ProblemError | None:
        """Return the error for a cluster on which scores are not defined; None for others."""
        return None

    def entries(self) -> dict[str, Any]:
        """Return the parameters that are not options, as entries of JSON documents."""
        return {}

    def settings_in_words(self) -> str:
        """Return the settings that a table of scores names; empty if there are none."""
        return ""

    def in_words(self, name: str) -> str:
        """Return words that follow those of a graph and a cluster; `name` is that of `text_of`."""
        return f"for {name}"


@dataclass(frozen=True)
class Throughput(Objective):
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

    quantity: ClassVar[str] = "throughput"
    unit: ClassVar[str] = "tuples/s"
    higher_is_better: ClassVar[bool] = True
    has_rates: ClassVar[bool] = True
    follows_loads: ClassVar[bool] = True
    compared: ClassVar[tuple[str, ...]] = ("metis", "metis-oracle", "fuser", "auto")
    reference: ClassVar[str | None] = "metis"
    functions: ClassVar[Mapping[str, str]] = {
        "evaluator": "streamplace.scoring.registry:evaluator_for_throughput",
        "explain": "streamplace.workflows.explain:explain_throughput",
        "measure": "streamplace.workflows.differences:RelativeThroughput",
        "report": "streamplace.reports.data:throughput_entry",
        "result": "streamplace.workflows.result:throughput_result",
    }
    remedy: ClassVar[str] = "add --objective makespan, or objective=sp.Makespan() in Python"

    source_rates: tuple[float, ...] | None = None
    model: Model = "bottleneck"
    target_utilisation: float = 1.0
    engine: "Settings | None" = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Let the evaluator of a custom objective decide, and not loads alone."""
        super().__init_subclass__(**options)
        cls.follows_loads = False

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
        """Return the objective for one source rate or several; None stands for the default."""
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
    def rates(self) -> tuple[float, ...]:
        """The source rates in tuples/s, in decreasing order; empty if there are none."""
        return self.source_rates or ()

    @property
    def needs_rate(self) -> bool:
        """Whether there is no source rate."""
        return self.source_rates is None

    def with_stored(
        self, rates: tuple[float, ...], model: Model, target_utilisation: float
    ) -> Self:
        """Return the objective with the parameters of a placement file."""
        return self.with_changes(rates or None, model, target_utilisation)

    def with_engine(self, settings: "Settings | None") -> Self:
        """Return the objective with settings of the engine."""
        return replace(self, engine=settings)

    def without_settings(self) -> Self:
        """Return the objective with the default source rate, model, target and engine."""
        return replace(
            self, source_rates=None, model=MODELS[0], target_utilisation=1.0, engine=None
        )

    def entries(self) -> dict[str, Any]:
        """Return source rates, model and target utilisation, as entries of JSON documents."""
        return {
            "source_rate": self.source_rate,
            "source_rates": list(self.rates),
            "model": self.model,
            "target_utilisation": self.target_utilisation,
        }

    def in_words(self, name: str) -> str:
        """Return source rates, model, target utilisation and the name of a custom objective."""
        rates, share = ", ".join(map(number, self.rates)), self.target_utilisation
        target = "" if share == 1 else f", target utilisation {share:g}"
        own = "" if name == self.quantity else f", objective {name}"
        return f"at {rates} tuples/s, {self.model}{target}{own}"

    @cached_property
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


loaded = cache(load_ours)
"""`load_ours`, which looks a function up once."""


def check_objective(objective: object) -> None:
    """Refuse a value that is not an objective.

    Raises
    ------
    ProblemError
        If it is not an instance of `Objective`.
    """
    if not isinstance(objective, Objective):
        got = type(objective).__name__
        instead = "for example sp.Throughput.of(2e4) or sp.Makespan()"
        raise ProblemError(f"objective: must be an objective, not {got}; {instead}")


def without_axes(value: Any) -> Any:
    """Return the number in an array without axes, such as ``np.array(1e4)``; else the value."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def _as_tuple(source_rate: float | Iterable[float]) -> tuple[float, ...]:
    """Return one rate or several as a tuple; text is one rate, which `_checked_rates` refuses."""
    source_rate = without_axes(source_rate)
    several = isinstance(source_rate, Iterable) and not isinstance(source_rate, str | Mapping)
    return tuple(source_rate) if several else (source_rate,)  # type: ignore[arg-type,return-value]


def _checked_rates(rates: tuple[float, ...]) -> tuple[float, ...]:
    """Return distinct source rates in decreasing order."""
    if rates and isinstance(rates[0], Mapping):
        instead = "StreamGraph(…, source_rates={…}) states the rate of each source"
        raise ProblemError(f"source_rate: must be a number or several, not a mapping; {instead}")
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
