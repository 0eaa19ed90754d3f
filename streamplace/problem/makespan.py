"""Objectives of one pass as data, and the makespan, also as published systems compute it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from streamplace.errors import Fault, ProblemError, UsageError
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import Multicast
from streamplace.problem.network import LinkOverride, NetworkKind
from streamplace.problem.objective import Objective
from streamplace.util.checks import check_number, check_seed, check_type, set_plain_numbers
from streamplace.util.entry_points import ours
from streamplace.util.plugins import load_ours
from streamplace.util.suggest import did_you_mean, valid_choices

DispatchOrder = Literal["fifo", "b-level", "topological", "sequence", "any"]
ORDERS: tuple[DispatchOrder, ...] = get_args(DispatchOrder)
CHOICES: tuple[DispatchOrder, ...] = ("fifo", "b-level", "topological")
"""The orders among which ``any`` chooses."""
PublishedName: TypeAlias = str
GROUP = "streamplace.semantics"
PUBLISHED: tuple[PublishedName, ...] = tuple(ours(GROUP))
"""The systems whose semantics of messages `with_published_semantics` has, by entry points."""
MAKESPAN = "makespan"
"""The quantity of the objective."""
MAX_BATCH, MAX_REPEATS = 10**12, 10**6


@dataclass(frozen=True)
class PassObjective(Objective):
    """An objective about one pass of a batch through the graph, whose score is in seconds.

    In a pass, every operator runs once as one task for all of its tuples, and every stream brings
    one message.

    Parameters
    ----------
    batch
        Number of source tuples in a pass.
    order
        Order in which the operators of a device start: ``fifo`` (by the moment at which all inputs
        have arrived), ``b-level`` (by HEFT's upward rank, the highest first), ``topological`` (by
        Kahn's order, the smallest index first), ``sequence`` (that order as a strict list, for
        which a device waits), or ``any`` (a placer chooses among the first three, and a score is
        the best of them).
    barrier
        Whether the operators of a level start only when those of the level before have ended and
        all their messages have arrived. The level of an operator is the number of streams on the
        longest path to it.
    inputs_everywhere
        Whether the output of sources is on every device when they end, at no cost.
    noise
        Execution and transfer times are multiplied by numbers drawn uniformly from 1 - noise to
        1 + noise; at least 0 and below 1.
    repeats
        Number of passes with different noise over which a makespan is the mean.
    seed
        Seed of the noise.

    Raises
    ------
    ProblemError
        On an unknown order, or a number that is out of range.
    """

    unit: ClassVar[str] = "s"
    reference: ClassVar[str | None] = "heft"
    is_pass: ClassVar[bool] = True
    remedy: ClassVar[str] = (
        "use auto, climb, exact, random or a refining policy such as giph, or place for the "
        "makespan"
    )
    functions: ClassVar[Mapping[str, str]] = {
        "compiled": "streamplace.makespan.compiled_pass:compiled_pass",
        "evaluator": "streamplace.makespan.evaluator:evaluator_for_pass",
        "explain": "streamplace.workflows.explain:explain_pass",
        "fast": "streamplace.makespan.placers.search:fast_pass",
        "measure": "streamplace.workflows.ratios:RatioMeasure",
        "report": "streamplace.reports.schedules:schedule_entry",
        "result": "streamplace.workflows.value_result:scheduled",
    }

    def __init_subclass__(cls, **options: Any) -> None:
        """Name what an own evaluator measures after the class, unless it has a `quantity`.

        Searches and proofs for another quantity than that of the base class do not hold.
        """
        super().__init_subclass__(**options)
        own = {*vars(cls)}
        if "evaluator" in own and "quantity" not in own:
            cls.quantity = cls.__name__
        if "quantity" in vars(cls) and "functions" not in own:
            cls.functions, cls.compared = PassObjective.functions, PassObjective.compared

    batch: int = 1
    order: DispatchOrder = "fifo"
    barrier: bool = False
    inputs_everywhere: bool = False
    noise: float = 0.0
    repeats: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        set_plain_numbers(self, ("batch", "repeats", "seed"))
        _check_whole("batch", self.batch, MAX_BATCH)
        _check_whole("repeats", self.repeats, MAX_REPEATS)
        check_seed(self.seed)
        if self.order not in ORDERS:
            wrong = f"must be one of {', '.join(ORDERS)} (got {self.order!r:.40})"
            wrong += did_you_mean(str(self.order), ORDERS)
            raise ProblemError(Fault(wrong, option="order"))
        for name in ("barrier", "inputs_everywhere"):
            check_type(f"{name}:", getattr(self, name), bool, ProblemError)
        check_number("", self.noise, ProblemError, option="noise")
        if not 0 <= self.noise < 1:
            fault = f"must be at least 0 and below 1 (got {self.noise:g})"
            raise ProblemError(Fault(fault, option="noise"))
        object.__setattr__(self, "noise", float(self.noise))
        if self.repeats > 1 and not self.noise:
            fault = "without noise, all passes are equal; set noise as well"
            raise ProblemError(Fault(fault, option="repeats"))

    @property
    def value_key(self) -> str:
        """The name of a score's value in JSON, such as ``total_cost_s``."""
        return f"{self.quantity.replace(' ', '_')}_s"

    def settings_in_words(self) -> str:
        """Return the order, the rules that hold beside it, the batch and the noise."""
        batch = "" if self.batch == 1 else f", batch {self.batch:,}"
        noise = f", noise {self.noise:g}" if self.noise else ""
        return f"order {self.order}{rules_in_words(self)}{batch}{noise}"

    def fault_of(self, cluster: Cluster) -> ProblemError | None:
        """Return the error for a cluster whose groups of devices share links; None for others."""
        if not cluster.limited_uplinks:
            return None
        group = cluster.limited_uplinks[0][0]
        error = ProblemError(
            f"network.uplinks[{group!r}] of the cluster: {self.quantity}s are not defined for "
            "links that a group of devices shares; remove the uplinks, or use the throughput "
            "objective"
        )
        error.needs_file = False  # callers put the graph's file before other faults
        return error


@dataclass(frozen=True)
class Makespan(PassObjective):
    """The makespan objective: end one pass of a batch through the graph as early as possible.

    The parameters are those of `PassObjective`. Placers for makespans refuse a class that derives
    from this one and has an evaluator, as their bounds do not hold for it.
    """

    quantity: ClassVar[str] = MAKESPAN
    compared: ClassVar[tuple[str, ...]] = ("heft", "peft", "climb", "auto")
    remedy: ClassVar[str] = (
        "for makespans use auto, search, exact, heft, peft or another placer of the list in "
        "'streamplace place --help'"
    )
    functions: ClassVar[Mapping[str, str]] = {
        **PassObjective.functions,
        "auto": "streamplace.makespan.placers.search:auto_pass",
        "climb": "streamplace.makespan.placers.annealing:climb_pass",
        "exact": "streamplace.makespan.placers.exact:prove_pass",
        "migrate": "streamplace.makespan.placers.annealing:PassMoves",
        "search": "streamplace.makespan.placers.search:search_pass",
    }


def rules_in_words(objective: PassObjective) -> str:
    """Return the rules that hold beside the order, each after a comma, such as ``, barrier``."""
    barrier = ", barrier" if objective.barrier else ""
    return barrier + (", inputs everywhere" if objective.inputs_everywhere else "")


def _check_whole(name: str, value: object, largest: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= largest:
        wanted = f"must be a whole number from 1 to {largest:,}"
        raise ProblemError(Fault(f"{wanted} (got {value!r:.40})", option=name))


@dataclass(frozen=True)
class Semantics:
    """What a published system says about messages; None keeps the cluster's latencies."""

    kind: NetworkKind
    multicast: Multicast
    latency_s: float | None = 0.0
    gap_s: float = 0.0
    startup_s: float = 0.0


def check_takes_semantics(objective: Objective) -> None:
    """Refuse an objective of something other than a pass, whose messages can follow a system."""
    if not objective.is_pass:
        raise UsageError("semantics requires an objective of one pass, such as sp.Makespan()")


def with_published_semantics(
    graph: StreamGraph, cluster: Cluster, name: PublishedName
) -> tuple[StreamGraph, Cluster]:
    """Return a graph and a cluster on which passes follow a published system.

    Speeds, bandwidths and cores stay. The systems are those of `PUBLISHED`; none of them has CPU
    time per message.

    Raises
    ------
    ProblemError
        If the name is unknown, or links of a ``nic`` network have overrides, which no link between
        two devices has.
    """
    if name not in PUBLISHED:
        fault = f"unknown {name!r}{valid_choices(name, PUBLISHED)}"
        raise ProblemError(Fault(fault, option="semantics"))
    semantics: Semantics = load_ours(ours(GROUP)[name])
    network = cluster.network
    if network.overrides and not network.by_pair:
        fault = (
            f"{name}: network.overrides of nic links do not describe links between two devices; "
            "describe these with the kind pair"
        )
        raise ProblemError(Fault(fault, option="semantics"))
    changed = replace(
        network,
        kind=semantics.kind,
        gap_s=semantics.gap_s,
        latency_s=network.latency_s if semantics.latency_s is None else semantics.latency_s,
        overhead_s=0.0,
        overhead_s_per_byte=0.0,
        overrides=tuple(_override(each, semantics) for each in network.overrides),
    )
    devices = [
        replace(device, startup_s=semantics.startup_s, overhead_s_per_byte=None)
        for device in cluster.devices
    ]
    return graph.with_numbers(multicast=semantics.multicast)[0], Cluster(devices, changed)


def _override(override: LinkOverride, semantics: Semantics) -> LinkOverride:
    """Return an override with the bandwidth, and the latency where that is kept."""
    latency = override.latency_s if semantics.latency_s is None else None
    return replace(override, latency_s=latency, overhead_s=None, gap_s=None)
