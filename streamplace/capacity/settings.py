"""The settings of `plan` and `size`."""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from streamplace.latency.limit import LatencyLimit
from streamplace.problem.cluster import MAX_DEVICES
from streamplace.problem.constraints import Constraints
from streamplace.problem.objective import Model
from streamplace.util.settings import (
    COUNT,
    SECONDS,
    SEED,
    SHARE,
    CheckedSettings,
    Range,
    Text,
    setting,
)

Minimise = Literal["machines", "money", "instances"]
LATENCY = Text(LatencyLimit.of, "QUANTITY=TIME")
LIMIT = (
    "Limit on the latency of single tuples, such as ``p99=200ms``, ``p50=0.1s`` or ``mean=50ms``."
)


@dataclass(frozen=True, kw_only=True)
class CapacitySettings(CheckedSettings):
    """What `plan` and `size` have in common."""

    source_rate: float | None = setting(
        None, None, "Tuples/s of all sources together.", unset="the graph's"
    )
    constraints: Constraints | None = setting(
        None, None, "Where operators may run.", unset="the graph's"
    )
    model: Model | None = setting(
        None, None, "Model of throughput, one of the closed forms; see `place`.", unset="bottleneck"
    )
    target_utilisation: float | None = setting(
        SHARE, None, "Highest utilisation of devices and links, above 0 and at most 1.", unset="1"
    )
    survive: int = setting(
        Range(0, 1, whole=True, symbol="0|1"),
        0,
        "1: the devices must keep up after the loss of any one of them.",
    )
    seed: int = setting(SEED, 0, "Seed of all random choices.")
    max_latency: LatencyLimit | str | None = setting(LATENCY, None, LIMIT)

    @property
    def limit_on_latency(self) -> LatencyLimit | None:
        """The limit on latency."""
        assert not isinstance(self.max_latency, str), "text became a limit"
        return self.max_latency


@dataclass(frozen=True, kw_only=True)
class PlanSettings(CapacitySettings):
    """The settings of `plan`."""

    place: ClassVar[tuple[str, ...]] = ("plan",)
    most: int | None = setting(
        Range(1, MAX_DEVICES, whole=True),
        None,
        "Largest number of devices to try.",
        unset="the number in the cluster; if equal devices cannot keep up with the source rate, "
        "up to 64, as long as more devices help",
    )
    max_latency: LatencyLimit | str | None = setting(
        LATENCY,
        None,
        f"{LIMIT} The fewest or cheapest devices that keep up come first. "
        "Cannot be combined with `survive`.",
    )
    seconds: float | None = setting(
        SECONDS,
        None,
        "Seconds of search for each number of devices or, if they differ, for all sets of devices "
        "together.",
        unset="a number of changes, which takes up to about a second; 10 seconds of CPU time",
    )
    evaluations: int | None = setting(
        COUNT,
        None,
        "Number of changes to try per number or set of devices, at first; no limit on time unless "
        "`seconds` is set.",
        unset="200,000 plus 400 per operator for each number of equal devices, unless `seconds` is "
        "set, so that the result does not depend on the machine; 10,000 plus 100 per operator for "
        "each set of others",
    )


@dataclass(frozen=True, kw_only=True)
class SizeSettings(CapacitySettings):
    """The settings of `size`."""

    place: ClassVar[tuple[str, ...]] = ("size",)
    minimise: Minimise = setting(
        get_args(Minimise),
        "machines",
        "machines: the number of devices; money: the sum of their prices in the cluster; "
        "instances: the number of instances, on the whole cluster.",
    )
    restart: float | None = setting(
        SECONDS,
        None,
        "Seconds for which a restart stops the job; capacity to catch up with them is added.",
        unset="no restarts; 300 with `catch_up`",
    )
    catch_up: float | None = setting(
        Range(above=True, symbol="S"),
        None,
        "Seconds within which the tuples that wait after a restart are worked off.",
        unset="1800 with `restart`",
    )
    max_latency: LatencyLimit | str | None = setting(
        LATENCY,
        None,
        f"{LIMIT} Sizes for a lower and lower utilisation are tried until simulations confirm one. "
        "With `survive`, latencies after a loss are not examined.",
    )
    resize: bool = setting(
        bool, False, "Choose the numbers of instances that the graph states, too."
    )
    whole_operators: bool = setting(bool, False, "Keep all instances of an operator on one device.")
    seconds: float | None = setting(
        SECONDS, None, "Seconds of search per source rate.", unset="5 of CPU time"
    )
    evaluations: int | None = setting(
        COUNT,
        None,
        "Number of changes to try per set of devices, at first; no limit on time unless `seconds` "
        "is set.",
        unset="10,000 plus 100 per instance",
    )
