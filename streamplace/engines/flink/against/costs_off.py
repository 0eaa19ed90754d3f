"""Which costs of a graph or speeds of a cluster differ from what a running job shows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, exp, log
from typing import Any, Literal, NamedTuple

from streamplace.display.text import number
from streamplace.display.view import Line
from streamplace.formats.profiling.estimates import Estimate

Kind = Literal["instructions", "selectivity", "source_share", "mips"]
MATERIAL = log(1.2)  # differences of up to 20% of CPU time are not reported, which waiting causes
COUNTED = 0.1  # relative; tuples are counted exactly, so smaller differences are reported
NOISE = 3.0  # standard errors
SMALLEST = 0.01  # cores: smaller effects are not reported
LEAST_ERROR = 0.05  # relative, of the CPU time per tuple; what standard errors do not show
MAJORITY = 0.75  # share of tasks that must agree on a factor, at least two of them


@dataclass(frozen=True)
class Off:
    """A number that differs from the measured one by more than its noise.

    Parameters
    ----------
    kind
        ``instructions`` of an operator, ``selectivity`` of a stream, ``source_share`` of a source,
        or ``mips`` of a device.
    name
        The operator, stream or device; None: all devices.
    graph
        The number in the graph or cluster; None if devices differ.
    measured
        The number that would explain the measurements.
    ratio
        `measured` ÷ `graph`; None if the latter is 0.
    mips
        Speed that the measured instructions refer to, which is that of the cluster unless the speed
        itself is off; None for other kinds, and if devices differ.
    """

    kind: Kind
    name: str | None
    graph: float | None
    measured: float | None
    ratio: float | None
    mips: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``off`` in `explain --json`."""
        keys = ("kind", "name", "graph", "measured", "ratio")
        values = {key: getattr(self, key) for key in keys}
        return {**values, "mips": self.mips} if self.kind == "instructions" else values

    def line(self) -> Line:
        """Return what is off as a line."""
        names = () if self.name is None else (self.name,)
        return Line(self._text(), names)

    def _text(self) -> str:
        graph, measured = (number(x) for x in (self.graph or 0.0, self.measured or 0.0))
        match self.kind:
            case "instructions":
                return self._text_of_cost(graph, measured)
            case "mips":
                return self._text_of_speed(graph, measured)
            case "selectivity":
                return f"the selectivity of {{}} is {measured} instead of {graph}"
            case "source_share":
                return f"the share of the source rate of {{}} is {measured} instead of {graph}"

    def _text_of_cost(self, graph: str, measured: str) -> str:
        at = "" if self.mips is None else f" at {number(self.mips)} MIPS"
        if self.ratio is None:
            says = "{} takes CPU time, but the graph says that it takes none"
            return f"{says}: {measured} instructions per tuple{at}"
        says = f"{{}} takes {self.ratio:.3g} times the CPU time that the graph says"
        return f"{says}: {measured} instead of {graph} instructions per tuple{at}"

    def _text_of_speed(self, graph: str, measured: str) -> str:
        ratio = self.ratio or 1.0  # a speed is never 0
        where = "" if self.name is None else " on {}"
        says = f"all operators{where} take {1 / ratio:.3g} times the CPU time that the graph says"
        speed = f"{measured} instead of {graph} MIPS"
        if self.name is not None:
            return f"{says}: its cores do {speed}"
        if self.graph is None:
            cores = f"the cores are {ratio:.3g} times as fast as the cluster says"
        else:
            cores = f"the cores do {speed}"
        return f"{says}: {cores}, or the graph's instructions refer to another speed"


@dataclass(frozen=True)
class Factor:
    """How the CPU time per tuple of a task on one device differs from the graph's.

    Parameters
    ----------
    log_ratio
        Logarithm of measured ÷ predicted.
    error
        Its standard error.
    cores
        Cores that the task keeps busy there.
    """

    task: str
    device: str
    log_ratio: float
    error: float
    cores: float

    @property
    def tolerance(self) -> float:
        """How far the logarithm may be from another one without counting as different."""
        return max(MATERIAL, NOISE * self.error)

    def relative_to(self, log_ratio: float) -> "Factor":
        """Return the factor that is left once another one is taken out."""
        return replace(self, log_ratio=self.log_ratio - log_ratio)


class Shared(NamedTuple):
    """The logarithm of a factor that several tasks share, and its standard error."""

    log_ratio: float
    error: float

    @property
    def is_clear(self) -> bool:
        """Whether it is more than noise."""
        return abs(self.log_ratio) > max(MATERIAL, NOISE * self.error)


def shared(factors: Sequence[Factor]) -> Shared | None:
    """Return the factor on which most agree; None if they do not, or if all are of one task.

    At least three quarters must agree, and at least two tasks. Their mean is weighted by the
    inverse of their variances.
    """
    ordered = sorted(factors, key=lambda each: each.log_ratio)
    if not ordered:
        return None
    middle = ordered[(len(ordered) - 1) // 2].log_ratio
    near = [each for each in factors if abs(each.log_ratio - middle) <= each.tolerance]
    tasks = {each.task for each in near}
    if len(tasks) < 2 or len(near) < ceil(MAJORITY * len(factors)):  # noqa: PLR2004 - two tasks
        return None
    weights = [1.0 / (each.error**2 + LEAST_ERROR**2) for each in near]
    weighted = sum(each.log_ratio * weight for each, weight in zip(near, weights, strict=True))
    return Shared(weighted / sum(weights), sum(weights) ** -0.5)


def split(factors: Sequence[Factor]) -> tuple[dict[str | None, float], list[Factor]]:
    """Split factors into those of speeds and those of tasks.

    Returns
    -------
    speeds
        Device -> logarithm of the factor that its tasks share; None stands for all devices.
    rest
        The factors without those of speeds.
    """
    speeds: dict[str | None, float] = {}
    everywhere = shared(factors)
    if everywhere is not None and everywhere.is_clear:
        speeds[None] = everywhere.log_ratio
        factors = [each.relative_to(everywhere.log_ratio) for each in factors]
    rest: list[Factor] = []
    devices = dict.fromkeys(each.device for each in factors)
    for device in devices:
        here = [each for each in factors if each.device == device]
        found = shared(here) if len(devices) > 1 else None
        if found is not None and found.is_clear:
            speeds[device] = found.log_ratio
            here = [each.relative_to(found.log_ratio) for each in here]
        rest += here
    return speeds, rest


def tasks_off(rest: Sequence[Factor]) -> Iterator[tuple[str, float]]:
    """Yield tasks whose CPU time per tuple is off, with the logarithm of the ratio."""
    for task in dict.fromkeys(each.task for each in rest):
        own = [each for each in rest if each.task == task]
        cores = sum(each.cores for each in own)
        weights = [each.cores / cores if cores else 1 / len(own) for each in own]
        pairs = list(zip(own, weights, strict=True))
        mean = sum(each.log_ratio * weight for each, weight in pairs)
        error = sum((each.error * weight) ** 2 for each, weight in pairs) ** 0.5
        effect = abs(cores - cores / exp(mean))
        if abs(mean) > max(MATERIAL, NOISE * error) and effect >= SMALLEST:
            yield task, mean


def differs(measured: Estimate, expected: float) -> bool:
    """Return whether a number differs from the expected one by more than 10% and its noise."""
    value, error = measured.known, measured.error
    if value is None or error is None:
        return False
    apart = abs(value - expected)
    return apart > NOISE * error and apart > COUNTED * min(value, expected)
