"""Jobs of parked operators, whose number of instances is known."""

from dataclasses import dataclass
from math import ceil

TARGET = 0.7  # of each instance's time
KEY_GROUPS = 128


@dataclass(frozen=True)
class Parked:
    """An operator that parks.

    Parameters
    ----------
    inputs
        Names of the operators that it reads from; "events" is the source.
    microseconds
        Time of one tuple.
    out, per
        It emits `out` tuples for every `per` that arrive.
    """

    name: str
    inputs: tuple[str, ...]
    microseconds: float
    out: int = 1
    per: int = 1
    shipping: str = "rebalance"

    def argument(self, instances: int) -> str:
        """Return the argument of ShapedJob that describes it."""
        inputs = ",".join(self.inputs)
        work = f"{self.microseconds:g} {self.out}/{self.per}"
        return f"{self.name} {inputs} {self.shipping} {work} {instances}"


@dataclass(frozen=True)
class ParkedJob:
    """A job: the source's tuples/s, and operators in upstream order."""

    name: str
    rate: float
    operators: tuple[Parked, ...]

    def arguments(self, instances: int) -> list[str]:
        """Return the arguments of ShapedJob for a number of instances of every operator."""
        return [f"{self.rate:g}", *(each.argument(instances) for each in self.operators)]

    def least(self) -> dict[str, int]:
        """Return the smallest number of instances of each operator that meets the target."""
        found, rates = {}, {"events": self.rate}
        for each in self.operators:
            arriving = sum(rates[name] for name in each.inputs)
            rates[each.name] = arriving * each.out / each.per
            load = arriving * each.microseconds / 1e6
            found[each.name] = next(p for p in range(1, 100) if load * _busiest(each, p) <= TARGET)
        return found


def _busiest(operator: Parked, instances: int) -> float:
    """Return the share of the busiest instance."""
    groups = KEY_GROUPS if operator.shipping == "hash" else instances
    return ceil(groups / instances) / groups


JOBS = (
    ParkedJob("chain", 800, (Parked("a", ("events",), 2140), Parked("b", ("a",), 5000))),
    ParkedJob(
        "filter",
        1000,
        (
            Parked("parse", ("events",), 1500),
            Parked("filter", ("parse",), 1000, 1, 2),
            Parked("count", ("filter",), 3800, shipping="hash"),
        ),
    ),
    ParkedJob(
        "diamond",
        600,
        (
            Parked("split", ("events",), 1000),
            Parked("left", ("split",), 2000),
            Parked("right", ("split",), 3000),
            Parked("join", ("left", "right"), 1000),
        ),
    ),
    ParkedJob(
        "burst",
        200,
        (
            Parked("explode", ("events",), 4000, 3, 1),
            Parked("score", ("explode",), 3000, shipping="hash"),
            Parked("store", ("score",), 1000),
        ),
    ),
)
"""Four shapes: a chain, a filter with a keyed count, a fork with a join, a selectivity of three."""
